import assert from "node:assert/strict";
import { test } from "node:test";

import { explain, readAssignment, readDeployment } from "../ldprl.js";
import { VECTORS, example } from "../testing/examples.js";

/** Return all lives: a state and a reward of 0 or 1 for each step. */
function lives({ states, horizon }) {
  let all = [[]];
  for (let h = 0; h < horizon; h += 1) {
    all = all.flatMap((life) =>
      Array.from({ length: 2 * states }, (_, i) => [...life, { state: i >> 1, reward: i % 2 }]),
    );
  }
  return all;
}

/** Whether a life has the answer, written down from the question's definition. */
function has(life, { kind, step }, answer) {
  if (answer === null || life[step].state !== answer.state) return false;
  if (kind !== "transition" && life[step].reward !== answer.reward) return false;
  return kind === "reward" || (life[step + 1]?.state ?? 0) === answer.next;
}

/** How likely a life is to have one of the answers: 0 or 1, except for the worth, which is drawn. */
function chance(life, { kind, step }, answers) {
  if (kind !== "worth") return answers.some((answer) => has(life, { kind, step }, answer)) ? 1 : 0;
  const share = life.filter(({ reward }) => reward === 1).length / life.length;
  return answers.reduce((total, { above }) => total + (above === 1 ? share : 1 - share), 0);
}

test("lives are counted as by counting them", async () => {
  const asking = VECTORS.deployments.filter(({ document }) => "layout" in document.randomizer);
  for (const { document, reports } of asking) {
    const deployment = await readDeployment(document);
    const all = lives(deployment.shape);
    for (const { assignment, values } of reports) {
      const issued = await readAssignment(assignment, deployment);
      const explanation = explain(deployment, issued, values);
      assert.equal(explanation.lives, BigInt(all.length) + 1n);
      assert.equal(explanation.questions.length, issued.questions.length);
      for (const { kind, step, answers, likelier } of explanation.questions) {
        const nothing = answers.includes(null) ? 1 : 0;
        const counted = all.reduce((sum, life) => sum + chance(life, { kind, step }, answers), 0);
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
    lives: 217n,
    others: 216n,
    factor: Math.exp(2),
  });
});
