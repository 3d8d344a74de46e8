import assert from "node:assert/strict";
import { test } from "node:test";

import { InputError, canonicalJson, readAssignment, readDeployment } from "../ldprl.js";
import { VECTORS, example } from "../testing/examples.js";

const ALL = VECTORS.deployments.map(({ document }) => document);

function refused(field) {
  return (error) => error instanceof InputError && error.field.startsWith(field);
}

/** Return every way in which a document's integers can be made one step less private. */
function weaker(document) {
  const copies = [];
  const change = (edit) => {
    const copy = structuredClone(document);
    edit(copy.randomizer);
    copies.push(copy);
  };
  const add = (text, number) => String(BigInt(text) + number);
  if (document.mechanism === "laplace") {
    change((given) => (given.numerator = add(given.numerator, -1n)));
    change((given) => (given.denominator = add(given.denominator, 1n)));
  } else if (document.mechanism === "randomized-response") {
    change((given) => (given.threshold = add(given.threshold, -1n)));
  } else {
    for (const kind of ["reward", "transition", "joint", "return"]) {
      if (!(kind in document.randomizer)) continue;
      change((given) => (given[kind].threshold = add(given[kind].threshold, 1n)));
      if (document.randomizer[kind].size > 1) change((given) => (given[kind].size -= 1));
    }
    // Where T is as large as can be, two answers cost less than ε too.
    if ("answers" in document.randomizer && Number(document.epsilon) < 40) {
      change((given) => (given.answers += 1));
    }
  }
  return copies;
}

test("integers that are one step less private than ε are refused", async () => {
  let tried = 0;
  for (const document of ALL) {
    await readDeployment(document);
    for (const copy of weaker(document)) {
      await assert.rejects(readDeployment(copy), refused("randomizer"), document.name);
      tried += 1;
    }
  }
  assert.ok(tried > ALL.length);
});

test("a randomizer that avoids the truth reveals it too, and is refused", async () => {
  for (const name of ["bits", "words"]) {
    const { document } = example(name);
    const given = name === "bits" ? document.randomizer : document.randomizer.reward;
    for (const threshold of ["0", "1", String(2n ** 64n), String(2n ** 64n - 1n)]) {
      given.threshold = threshold;
      await assert.rejects(readDeployment(document), refused("randomizer"), threshold);
    }
  }
});

test("a set of more answers than there are is refused", async () => {
  const { document } = example("words");
  document.randomizer.reward.items += 1;
  await assert.rejects(readDeployment(document), refused("randomizer.reward.items"));
});

test("more noise than ε asks for is taken", async () => {
  const { document } = example("laplace");
  document.randomizer.numerator = "50";
  assert.equal((await readDeployment(document)).randomizer.reach, 2250);
});

test("other formats, mechanisms, digests and broken documents are refused by name", async () => {
  const { document, digest } = example("words");
  const other = (edit) => Object.assign(structuredClone(document), edit);
  const cases = [
    ["deployment.format", other({ format: 1 })],
    ["deployment", []],
    ["mechanism", other({ mechanism: "gaussian" })],
    ["mechanism", other({ mechanism: "toString" })],
    ["mechanism", other({ mechanism: "threshold-bits" })],
    ["mechanism", { ...example("thresholds").document, mechanism: "laplace" }],
    ["epsilon", other({ epsilon: 2 })],
    ["epsilon", other({ epsilon: "0" })],
    ["epsilon", other({ epsilon: "1e3" })],
    ["shape.states", other({ shape: { ...document.shape, states: 0 } })],
    ["shape.step_dependent", other({ shape: { ...document.shape, step_dependent: 1 } })],
    ["labels.states", other({ labels: { ...document.labels, states: [] } })],
    ["structure", other({ structure: [] })],
    ["structure.admissible", other({ structure: { admissible: [[0], [1]] } })],
    ["structure.admissible", other({ structure: { admissible: [[0], [1], []] } })],
    ["structure.admissible", other({ structure: { admissible: [[0], [1], [2]] } })],
    ["randomizer", other({ randomizer: null })],
    ["randomizer.layout", other({ randomizer: { layout: "both" } })],
    ["randomizer.answers", other({ randomizer: { layout: "separate" } })],
    ["randomizer.reward", other({ randomizer: { layout: "separate", answers: 1 } })],
    ["document", other({ first_epoch: 0.5 })],
  ];
  for (const [field, changed] of cases) {
    await assert.rejects(readDeployment(changed), refused(field), field);
  }
  assert.equal((await readDeployment(document)).digest, digest);
});

test("assignments that do not fit their deployment are refused", async () => {
  for (const name of ["words", "laplace"]) {
    const { document, reports } = example(name);
    const deployment = await readDeployment(document);
    const { assignment } = reports[0];
    await readAssignment(assignment, deployment);
    const cases = [
      ["deployment", { deployment: "0".repeat(64) }],
      ["version", { version: -1 }],
      ["assignment", { assignment: "0" }],
      ["policy", { policy: assignment.policy.slice(1) }],
      ["policy", { policy: assignment.policy.map((row) => row.map(() => 9)) }],
      ["questions", { questions: null }],
      ["questions", { questions: [{ kind: "joint", step: 0 }] }],
      ["questions", { questions: [{ kind: "transition", step: 3 }] }],
      ["questions", { questions: [0, 1].map((step) => ({ kind: "reward", step })) }],
    ];
    for (const [field, edit] of cases) {
      await assert.rejects(readAssignment({ ...assignment, ...edit }, deployment), refused(field));
    }
  }
});

test("questions that would cost more than ε are refused", async () => {
  const { document, reports } = example("two answers");
  const deployment = await readDeployment(document);
  const { assignment } = reports[0];
  const ask = (...steps) => steps.map((step) => ({ kind: "reward", step }));
  for (const questions of [ask(), ask(0), ask(0, 1, 2), ask(1, 1)]) {
    const changed = { ...assignment, questions };
    await assert.rejects(readAssignment(changed, deployment), refused("questions"));
  }
  await readAssignment({ ...assignment, questions: ask(3, 0) }, deployment);
});

test("trajectories that nobody can have are refused", async () => {
  const { document, reports } = example("laplace");
  const deployment = await readDeployment(document);
  const assignment = await readAssignment(reports[0].assignment, deployment);
  const trajectory = { states: [0, 1], actions: [0, 1], rewards: [0, 1] };
  deployment.privatize(trajectory, assignment);
  for (const edit of [
    { states: [0, 2] },
    { actions: [0, -1] },
    { rewards: [0, 1.5] },
    { rewards: [0, NaN] },
    { rewards: [0, "1"] },
    { states: [0] },
    { states: [0.5, 0] },
  ]) {
    const edited = { ...trajectory, ...edit };
    assert.throws(() => deployment.privatize(edited, assignment), refused("traj"));
  }
});

test("canonical JSON sorts keys, and refuses what languages write differently", () => {
  assert.equal(
    canonicalJson({ b: [1, "é\n"], a: { d: null, c: true } }),
    '{"a":{"c":true,"d":null},"b":[1,"é\\n"]}',
  );
  for (const value of [0.5, 2 ** 60, undefined, { é: 1 }, 1n]) {
    assert.throws(() => canonicalJson(value), InputError);
  }
});

test("a document cannot make a page build more than a page can", async () => {
  const { document } = example("words");
  const large = (shape) => ({ ...document, shape: { ...document.shape, ...shape } });
  const laplace = (shape) => ({ ...large(shape), mechanism: "laplace" });
  const cases = [
    ["shape.horizon", large({ horizon: 1e9 })],
    ["shape.states", large({ states: 1e9 })],
    ["shape.actions", large({ actions: 2 ** 53 - 1 })],
    ["shape.horizon × states", large({ horizon: 10_000, states: 10_000 })],
    ["shape.counters", laplace({ states: 1_000, actions: 100 })],
    ["shape.counters", laplace({ states: 50, actions: 10, horizon: 1_000, step_dependent: true })],
  ];
  for (const [field, changed] of cases) {
    await assert.rejects(readDeployment(changed), refused(field), field);
  }
});

test("a window that ends before honest reports arrive is refused", async () => {
  const { document } = example("words");
  document.step_hours = "0.5";
  const least = Math.ceil(document.shape.horizon / 2) + 24;
  for (const [window, step] of [[least, "0.5"], [8784 * document.shape.horizon + 24, "8784"]]) {
    await readDeployment({ ...document, report_window_hours: window, step_hours: step });
    const short = { ...document, report_window_hours: window - 1, step_hours: step };
    await assert.rejects(readDeployment(short), refused("report_window_hours"));
  }
  for (const step of ["0", "-1", "9000", "day", 24, null]) {
    await assert.rejects(readDeployment({ ...document, step_hours: step }), refused("step_hours"));
  }
});
