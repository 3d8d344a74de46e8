import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";

import {
  Client,
  ForgetfulStorage,
  defineMechanism,
  digestOf,
  readDeployment,
} from "../ldprl.js";
import { hex } from "../src/canonical.js";
import { exponentialFromBelow } from "../src/numbers.js";
import { drawAssignment } from "../src/plan.js";
import { reportText } from "../src/report.js";
import { example } from "../testing/examples.js";
import { InsecureSource } from "../testing/seeded-source.js";

const walk = async (state) => ({ reward: 1, next: (state + 1) % 2 });
const full = () => {
  throw new Error("the store is full");
};

let document;
let deployment;
let plan;
let posted;
let storage;

/** A deployment of the vectors behind a relay: at the central ε of its own ε any crowd keeps it. */
async function behindRelay(name) {
  const { document: bare, reports } = example(name);
  const pair = await crypto.subtle.generateKey({ name: "X25519" }, true, ["deriveBits"]);
  const key = hex(new Uint8Array(await crypto.subtle.exportKey("raw", pair.publicKey)));
  const shuffle = { crowd: 100, central_epsilon: bare.epsilon, delta: "0.000001", key };
  return { document: { ...bare, shuffle }, reports };
}

beforeEach(async () => {
  const made = await behindRelay("laplace");
  document = made.document;
  deployment = await readDeployment(document);
  const { policy } = made.reports[0].assignment;
  plan = {
    deployment: deployment.digest,
    version: 7,
    report_bytes: 1024,
    assignments: [0.25, 0.75].map((share) => ({ share, policy, questions: [] })),
  };
  posted = [];
  storage = new ForgetfulStorage();
});

async function fetchFake(url, { body } = {}) {
  const { pathname } = new URL(url);
  if (pathname === "/v1/deployment") return Response.json({ deployment: document });
  if (pathname === "/v1/policy") return Response.json(plan);
  posted.push(body);
  return Response.json({ status: "accepted" });
}

function client(options = {}) {
  const sleep = async () => {};
  const { digest } = deployment;
  return new Client("https://relay.example", { digest, storage, fetch: fetchFake, sleep, ...options });
}

/** Count what is drawn by the clients that `make` returns. */
async function counting(make) {
  const one = make();
  const found = await one.deployment();
  const privatize = found.privatize.bind(found);
  one.draws = 0;
  found.privatize = (...given) => {
    one.draws += 1;
    return privatize(...given);
  };
  return one;
}

/** Return the fewest bytes that a plan may pad its reports to. */
async function leastRoom() {
  for (let size = plan.report_bytes; ; size -= 1) {
    try {
      await drawAssignment({ ...plan, report_bytes: size }, deployment, new InsecureSource(1));
    } catch {
      return size + 1;
    }
  }
}

test("a report is left with the relay, as long as the plan says whatever it holds", async () => {
  const entry = await client().participate(0, walk);
  assert.equal(entry.status, "accepted");
  assert.deepEqual(posted, [entry.body]);
  const { deployment: digest, version, sealed } = JSON.parse(entry.body);
  assert.deepEqual([digest, version], [deployment.digest, 7]);
  assert.equal(atob(sealed).length, plan.report_bytes + 48);
});

test("a plan without room for the longest report is refused before anything is drawn", async () => {
  const least = await leastRoom();
  for (const size of [least - 1, 150, 1]) {
    plan.report_bytes = size;
    const one = await counting(client);
    for (let visit = 0; visit < 3; visit += 1) {
      await assert.rejects(one.participate(0, walk), { field: "plan.report_bytes" });
    }
    assert.deepEqual([one.draws, await one.ledger.spent()], [0, "0"]);
  }
  assert.deepEqual(posted, []);
  plan.report_bytes = least;
  const one = await counting(client);
  await one.participate(0, walk);
  assert.deepEqual([one.draws, await one.ledger.spent()], [1, "2"]);
});

test("no report is longer than the longest, and the noise can make one as long", async () => {
  const least = await leastRoom();
  const { randomizer } = deployment;
  const assignment = { deployment: deployment.digest, version: 7, assignment: 1 };
  const ends = [-randomizer.reach, randomizer.reach].map((noise) => {
    const counts = new Array(randomizer.layout.length).fill(0);
    const values = counts.map((count, place) => {
      const [low, high] = randomizer.range(place);
      return Math.min(Math.max(count + 2 * noise, low), high);
    });
    return reportText(assignment, "0".repeat(32), values).length;
  });
  assert.equal(Math.max(...ends), least);
});

/** Replace a method by one that fails after `fine` calls. */
function failsAfter(t, fine, object, name) {
  const original = object[name].bind(object);
  let calls = 0;
  t.mock.method(object, name, (...given) => {
    calls += 1;
    return calls > fine ? full() : original(...given);
  });
}

const never = () => new Promise(() => {});
const FAILURES = {
  "the app's own code": (t, found) => {
    const { privatize } = found;
    t.mock.method(found, "privatize", (...given) => full(privatize(...given)));
  },
  sealing: (t) => failsAfter(t, 0, crypto.subtle, "encrypt"),
  encoding: (t) => failsAfter(t, 0, globalThis, "btoa"),
  // The first change says that the report is drawn now.
  storage: (t) => failsAfter(t, 1, storage, "change"),
};

for (const [point, inject] of Object.entries(FAILURES)) {
  test(`a report is drawn once, also where ${point} fails`, async (t) => {
    const one = await counting(client);
    const episode = await one.begin();
    inject(t, await one.deployment());
    await assert.rejects(episode.report(), /full/);
    t.mock.restoreAll();
    assert.equal(one.draws, 1);
    assert.equal(await one.ledger.spent(), "2", "paid for before it was drawn");
    // Neither by the same episode, nor by another one, nor at the next visit.
    const lost = (error) => error.field === "again" && /is lost/.test(error.message);
    await assert.rejects(episode.report(), lost);
    await assert.rejects(one.begin(), lost);
    const next = await counting(() => client({ budget: "4" }));
    await assert.rejects(next.participate(0, never), lost);
    assert.deepEqual(await next.resume(), []);
    assert.deepEqual([one.draws, next.draws, posted], [1, 0, []]);
    const { reports, counted } = await next.ledger.left(await next.deployment());
    assert.deepEqual([reports, counted], [1, "2"]);
    // Another episode at another cost.
    assert.equal((await next.participate(0, walk, { again: true })).status, "accepted");
    assert.equal(await next.ledger.spent(), "4");
  });
}

test("a report that cannot be paid for is not drawn", async () => {
  const one = await counting(client);
  storage.change = async () => full();
  await assert.rejects(one.begin(), /full/);
  assert.equal(one.draws, 0);
});

test("what cannot be sealed is not drawn", async (t) => {
  const one = await counting(client);
  t.mock.method(crypto.subtle, "generateKey", async () => {
    throw new Error("no X25519");
  });
  await assert.rejects(one.begin(), /no X25519/);
  assert.deepEqual([one.draws, await one.ledger.spent()], [0, "0"]);
});

test("two calls at once make one report, and so do two visits", async () => {
  const one = await counting(client);
  const [first, second] = await Promise.all([one.begin(), one.begin()]);
  assert.equal(first, second);
  const [entry, same] = await Promise.all([first.report(), second.report()]);
  assert.deepEqual(entry, same);
  const elsewhere = await counting(client);
  assert.deepEqual((await elsewhere.begin()).entry, entry);
  assert.equal(one.draws + elsewhere.draws, 1);
});

test("behind a relay a mechanism must say how long its reports are", async () => {
  class Silent {
    readQuestions() {
      return [];
    }
  }
  defineMechanism("mine:Silent", Silent);
  const own = { ...document, mechanism: "mine:Silent", randomizer: {} };
  await assert.rejects(readDeployment(own), { field: "shuffle" });
  const { shuffle, ...alone } = own;
  assert.ok(shuffle);
  assert.equal((await readDeployment(alone)).digest, await digestOf(alone));
});

test("assignments are drawn by their shares", async () => {
  // 4,000 draws: 8 deviations of the binomial law are 0.055; type-I error below 10⁻¹⁴. The mutant
  // that draws evenly is 0.25 away.
  const source = new InsecureSource(3);
  let second = 0;
  for (let i = 0; i < 4000; i += 1) second += (await drawAssignment(plan, deployment, source)).document.assignment;
  assert.ok(Math.abs(second / 4000 - 0.75) < 0.055);
});

test("a user's number is any of those that there are, and another one each time", async () => {
  // 60 numbers, the seed is fixed: all in one half, or two alike, with a probability below 10⁻¹².
  const { document: some, reports } = await behindRelay("returns");
  const returns = await readDeployment(some);
  const { states, actions } = returns.shape;
  const certain = Array.from({ length: actions }, (_, action) => (action === 0 ? 2 ** 32 : 0));
  const law = { seed: "0".repeat(32), weights: [new Array(states).fill(certain)] };
  const { questions } = reports[0].assignment;
  const assignments = [{ share: 1, law, questions }];
  const whole = { deployment: returns.digest, version: 1, report_bytes: 1024, assignments };
  const source = new InsecureSource(6);
  const numbers = new Set();
  for (let i = 0; i < 60; i += 1) {
    numbers.add((await drawAssignment(whole, returns, source)).document.number);
  }
  assert.equal(numbers.size, 60);
  assert.deepEqual(new Set([...numbers].map((one) => one < 2 ** 52)), new Set([true, false]));
});

test("in a crowd every answer of a report counts", async () => {
  const { document: some } = example("two answers");
  const blankets = (await readDeployment(some)).randomizer.blankets();
  assert.equal(blankets.length, 3);
  for (const blanket of blankets) {
    const largest = Math.max(...blanket.map(({ first, second }) => first / second));
    assert.ok(Math.abs(Math.log(largest) - Number(some.epsilon)) < 1e-6);
  }
});

test("a key of another form is refused", async () => {
  const { shuffle } = document;
  for (const key of ["", shuffle.key.slice(2), `${shuffle.key}00`, "x".repeat(64), null]) {
    const other = { ...document, shuffle: { ...shuffle, key } };
    await assert.rejects(readDeployment(other), { field: "shuffle.key" });
  }
});

test("a report is written down once", async () => {
  const one = client();
  const entry = await (await one.begin()).report({ send: false });
  await assert.rejects(one.ledger.complete(entry.id, "another"), { field: "id" });
  await assert.rejects(one.ledger.complete("0".repeat(32), "unpaid"), { field: "id" });
  assert.deepEqual(await one.ledger.entries(), [entry]);
});

test("integers below a bound that is no power of two are all below it, and all come", () => {
  // 200 draws: one of three is missing with a probability below 10⁻³⁴; the seed is fixed.
  const source = new InsecureSource(5);
  const drawn = new Set(Array.from({ length: 200 }, () => source.below(3n)));
  assert.deepEqual([...drawn].sort(), [0n, 1n, 2n]);
});

test("a bound on e^ε stays small where ε is huge", () => {
  const at = (top) => exponentialFromBelow({ top, bottom: 1n });
  assert.deepEqual(at(1000n), at(200n));
  assert.ok(at(199n).top < at(200n).top);
});
