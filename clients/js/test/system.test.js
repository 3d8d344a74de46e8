import assert from "node:assert/strict";
import { test } from "node:test";

import { NOTHING, SystemSource, digestOf, readDeployment } from "../ldprl.js";

const SHAPE = { states: 20, actions: 5, horizon: 10, step_dependent: false };
const MOST_MILLISECONDS = 50;

/** Return a deployment of the size S = 20, A = 5, H = 10, with at least the noise that ε asks. */
function large(mechanism, randomizer) {
  const words = (length) => Array.from({ length }, (_, i) => String(i));
  const labels = { title: "", states: words(20), actions: words(5), reward: "reward" };
  return readDeployment({
    format: 2,
    name: "large",
    shape: SHAPE,
    mechanism,
    epsilon: "2",
    labels,
    randomizer,
  });
}

function uniform(items, size) {
  return { items, size, threshold: String((2n ** 64n * BigInt(size)) / BigInt(items)) };
}

const LARGE = {
  laplace: { numerator: "29", denominator: "1" },
  "randomized-response": { threshold: String(2n ** 63n) },
  "subset-selection": { layout: "joint", answers: 1, joint: uniform(801, 95) },
};

for (const [mechanism, randomizer] of Object.entries(LARGE)) {
  test(`a report of ${mechanism} takes less than ${MOST_MILLISECONDS} ms`, async (t) => {
    const deployment = await large(mechanism, randomizer);
    const policy = Array.from({ length: 10 }, () => new Array(20).fill(0));
    const asked = mechanism === "subset-selection";
    const questions = asked ? [{ kind: "joint", step: 3 }] : [];
    const assignment = { policy, questions: deployment.randomizer.readQuestions(questions) };
    const walk = { states: new Array(10).fill(3), actions: new Array(10).fill(0) };
    const trajectory = { ...walk, rewards: new Array(10).fill(0.3) };
    // The processor's time: a busy machine does not count.
    const times = Array.from({ length: 21 }, () => {
      const start = process.cpuUsage();
      deployment.privatize(trajectory, assignment);
      return process.cpuUsage(start).user / 1000;
    }).sort((first, second) => first - second);
    t.diagnostic(`median ${times[10].toFixed(2)} ms, slowest ${times[20].toFixed(2)} ms`);
    assert.ok(times[10] < MOST_MILLISECONDS);
    const [one, other] = [0, 1].map(() => deployment.privatize(NOTHING, assignment));
    assert.notDeepEqual(one, other);
  });
}

test("more bytes than one call to the platform gives are all random", () => {
  const bytes = new SystemSource().randomBytes(3 * 65536 + 5);
  for (let start = 0; start < bytes.length; start += 65536) {
    const part = bytes.subarray(start, start + 65536);
    // Five zero bytes in a row at a given place have probability 2⁻⁴⁰.
    assert.ok(part.subarray(-5).some((byte) => byte !== 0));
  }
});

test("without crypto.subtle the error says what is missing", async () => {
  const crypto = Object.getOwnPropertyDescriptor(globalThis, "crypto");
  Object.defineProperty(globalThis, "crypto", { value: {}, configurable: true });
  try {
    await assert.rejects(digestOf({}), /https, or from localhost/);
  } finally {
    Object.defineProperty(globalThis, "crypto", crypto);
  }
});
