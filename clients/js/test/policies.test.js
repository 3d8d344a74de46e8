import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { test } from "node:test";

import { InputError } from "../src/errors.js";
import { tanh } from "../src/policies/elementary.js";
import { definePolicy, readProblem } from "../src/policies/index.js";
import { Parametric } from "../src/policies/parametric.js";
import { checkPolicies } from "../testing/policies.js";

const VECTORS = JSON.parse(await readFile(new URL("policies.json", import.meta.url), "utf8"));

test("policies choose the same actions as in Python, and the same documents are refused", async () => {
  const { checked, failures } = await checkPolicies(VECTORS);
  assert.deepEqual(failures, []);
  assert.ok(checked > 70);
});

test("one parameter, seed, word or refusal that differs would be noticed", async () => {
  const changed = structuredClone(VECTORS);
  changed.problems = changed.problems.slice(0, 2);
  const [first, second] = changed.problems;
  first.law.seed = first.law.seed.replace("0", "1");
  second.policy.features[1].scale = "0.301";
  changed.laws[0].r[0] += 1;
  changed.refusals[0].field = "law.seed";
  const { failures } = await checkPolicies(changed);
  for (const what of [first.name, second.name, "words of 0", "refused for law.seed"]) {
    assert.ok(failures.some((line) => line.startsWith(what)), what);
  }
});

test("whatever a user sees has an action; only another length is refused", () => {
  const problem = readProblem(VECTORS.problems.find(({ name }) => name === "tanh choices").policy);
  const parameters = Float64Array.from({ length: problem.size }, (_, j) => ((j * 7) % 5) - 2);
  const fallback = problem.act(parameters, [120, 0, -1, -12.5]);
  for (const odd of [NaN, Infinity, undefined, null, "many", {}, [], -1e999]) {
    assert.equal(problem.act(parameters, [odd, odd, odd, odd]), fallback);
  }
  const named = problem.act(parameters, [180, 1, "small", 0]);
  assert.equal(named, problem.act(parameters, Float64Array.of(180, 1, 1, 0)));
  for (const seen of [[], [1, 2, 3], 7, "small", null]) {
    assert.throws(() => problem.act(parameters, seen), InputError);
  }
});

test("tanh is tanh", () => {
  for (let x = -25; x <= 25; x += 0.0078125) {
    assert.ok(Math.abs(tanh(x) - Math.tanh(x)) < 1e-15, String(x));
  }
  assert.deepEqual([-Infinity, Infinity, NaN].map(tanh), [-1, 1, NaN]);
});

test("an app adds a kind of policy, one class", () => {
  class Curved extends Parametric {
    static options = ["degree"];

    readOptions({ degree }) {
      this.degree = degree;
    }

    get size() {
      return this.degree * this.features.size * this.actions.outputs;
    }

    outputs(parameters, inputs) {
      return [0, parameters[0] * inputs[0] ** this.degree];
    }
  }
  definePolicy("mine:Curved", Curved);
  assert.throws(() => definePolicy("linear", Curved), /expected one that is not taken/);
  const document = {
    kind: "mine:Curved",
    features: [{ name: "weight", unit: "kg", centre: "70", scale: "10" }],
    actions: ["rest", "run"],
    horizon: 1,
    returns: ["0", "1"],
    degree: 2,
  };
  const problem = readProblem(document);
  assert.deepEqual([50, 70, 90].map((kg) => problem.act([1, 0, 0, 0], kg)), [1, 0, 1]);
  assert.throws(() => readProblem({ ...document, hidden: [3] }), /policy key = "hidden"/);
});
