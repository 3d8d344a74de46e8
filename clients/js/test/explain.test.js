import assert from "node:assert/strict";
import { test } from "node:test";

import { explain, readAssignment, readDeployment } from "../ldprl.js";
import { VECTORS, example } from "../testing/examples.js";

/** Return all episodes: a state and a reward of 0 or 1 for each step. */
function episodes({ states, horizon }) {
  let all = [[]];
  for (let h = 0; h < horizon; h += 1) {
    all = all.flatMap((episode) =>
      Array.from({ length: 2 * states }, (_, i) => [...episode, { state: i >> 1, reward: i % 2 }]),
    );
  }
  return all;
}

/** Whether an episode has the answer, written down from the question's definition. */
function has(episode, { kind, step }, answer) {
  if (answer === null || episode[step].state !== answer.state) return false;
  if (kind !== "transition" && episode[step].reward !== answer.reward) return false;
  return kind === "reward" || (episode[step + 1]?.state ?? 0) === answer.next;
}

/** How likely an episode is to have one of the answers: 0 or 1, unless it is drawn (worth). */
function chance(episode, { kind, step }, answers) {
  const holds = (answer) => has(episode, { kind, step }, answer);
  if (kind !== "worth") return answers.some(holds) ? 1 : 0;
  const share = episode.filter(({ reward }) => reward === 1).length / episode.length;
  return answers.reduce((total, { above }) => total + (above === 1 ? share : 1 - share), 0);
}

test("episodes are counted as by counting them", async () => {
  const asking = VECTORS.deployments.filter(({ document }) => "layout" in document.randomizer);
  for (const { document, reports } of asking) {
    const deployment = await readDeployment(document);
    const all = episodes(deployment.shape);
    for (const { assignment, values } of reports) {
      const issued = await readAssignment(assignment, deployment);
      const explanation = explain(deployment, issued, values);
      assert.equal(explanation.episodes, BigInt(all.length) + 1n);
      assert.equal(explanation.questions.length, issued.questions.length);
      for (const { kind, step, answers, likelier } of explanation.questions) {
        const nothing = answers.includes(null) ? 1 : 0;
        const chances = all.map((episode) => chance(episode, { kind, step }, answers));
        const counted = chances.reduce((sum, one) => sum + one, 0);
        assert.equal(likelier, BigInt(Math.round(counted) + nothing), document.name);
      }
    }
  }
});

test("the factor is just below e^ε", async () => {
  for (const [name, epsilon] of [
    ["words", 2],
    ["joint", 20],
    ["one step", 0.37],
    ["two answers", 6],
  ]) {
    const { document, reports } = example(name);
    const deployment = await readDeployment(document);
    const issued = await readAssignment(reports[0].assignment, deployment);
    const { factor } = explain(deployment, issued, reports[0].values);
    // The threshold is rounded down by less than 1 of 2⁶⁴, which doubles do not see.
    assert.ok(Math.abs(Math.log(factor) - epsilon) < 1e-9);
  }
});

test("reports without a question could be everybody's", async () => {
  const { document, reports } = example("bits");
  const deployment = await readDeployment(document);
  const issued = await readAssignment(reports[0].assignment, deployment);
  assert.deepEqual(explain(deployment, issued, reports[0].values), {
    mechanism: "randomized-response",
    epsilon: "2",
    episodes: 217n,
    others: 216n,
    factor: Math.exp(2),
  });
});
