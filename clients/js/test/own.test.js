import assert from "node:assert/strict";
import { test } from "node:test";

import {
  InputError,
  defineMechanism,
  defineObservable,
  readAssignment,
  readDeployment,
} from "../ldprl.js";
import { observableOf } from "../src/questions/index.js";
import { example } from "../testing/examples.js";
import { InsecureSource } from "../testing/seeded-source.js";

/** A mechanism of an app's own: one class; it reports a coin, whatever happened. */
class Coin {
  readQuestions(questions) {
    return questions.map(({ kind, step }) => ({ kind: observableOf("kind", kind).kind, step }));
  }

  privatize(trajectory, { questions }, source) {
    return questions.map(() => Number(source.below(2n)));
  }
}

test("an app adds a mechanism and a kind of question, one definition each", async () => {
  defineMechanism("mine:Coin", Coin);
  defineObservable({
    kind: "place",
    outcomes: () => 1,
    outcome: () => 0,
    meaning: () => ({}),
    share: () => ({ top: 1n, bottom: 1n }),
    words: () => "which state you were in",
  });
  const { document, reports } = example("words");
  const own = { ...document, mechanism: "mine:Coin", randomizer: {} };
  const deployment = await readDeployment(own);
  const { policy } = reports[0].assignment;
  const assignment = {
    deployment: deployment.digest,
    version: 1,
    assignment: 0,
    policy,
    questions: [{ kind: "place", step: 1 }],
  };
  const issued = await readAssignment(assignment, deployment);
  const values = deployment.privatize(reports[0].trajectory, issued, new InsecureSource(1));
  assert.equal(values.length, 1);
  assert.deepEqual(observableOf("kind", "place").where(3).cell, [0, 1, 2]);
});

test("a name is not taken twice", () => {
  assert.throws(() => defineMechanism("laplace", Coin), InputError);
  assert.throws(() => defineObservable({ kind: "reward" }), InputError);
});

test("a question about groups brings an oracle of its own, as private as ε says", async () => {
  const { document, reports } = example("words");
  const deployment = await readDeployment(document);
  const grouped = (question) => ({
    ...reports[0].assignment,
    questions: [{ kind: "reward", step: 1, where: [0, 1, 0], ...question }],
  });
  // Two cells of two outcomes, and ⊥; one of five items, the own one no more than e² times as often.
  const fair = { items: 5, size: 1, threshold: String((2n ** 64n * 6n) / 10n) };
  const issued = await readAssignment(grouped(fair), deployment);
  assert.equal(issued.questions[0].where.count, 2);
  const values = deployment.privatize(reports[0].trajectory, issued, new InsecureSource(1));
  assert.ok(values.length === 1 && values[0] < 5);
  for (const bad of [
    { ...fair, threshold: String((2n ** 64n * 7n) / 10n) },
    { ...fair, items: 7 },
    { ...fair, where: [0, 2, 0] },
    { ...fair, where: [0, 1] },
    {},
  ]) {
    await assert.rejects(readAssignment(grouped(bad), deployment), InputError);
  }
});
