import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";

import { Client, ForgetfulStorage, InputError, readDeployment } from "../ldprl.js";
import { VECTORS, example } from "../testing/examples.js";
import { ServiceForTests } from "../testing/service.js";
import { changed } from "../testing/vectors.js";

const SERVICE = "https://service.example/";
const SEEN = [140, 0.1, "small", 9];

let service;
let storage;

beforeEach(() => {
  service = new ServiceForTests(example("thresholds"));
  // The user draws the number; the service writes it down.
  service.assigned = (number) => ({ ...example("thresholds").reports[0].assignment, number });
  storage = new ForgetfulStorage();
});

function visit(options = {}) {
  const { digest, fetch } = service;
  return new Client(SERVICE, { digest, storage, fetch, sleep: async () => {}, ...options });
}

async function counted(one) {
  const totals = [];
  const deployment = await one.deployment();
  const { privatize } = deployment;
  deployment.privatize = (total, ...more) => {
    totals.push(total);
    return privatize.call(deployment, total, ...more);
  };
  return totals;
}

test("a vector goes in, an action comes out, and a bit with the user's own number leaves", async () => {
  const one = visit();
  const totals = await counted(one);
  const episode = await one.begin();
  const { problem } = await one.deployment();
  for (let h = 0; h < problem.horizon; h += 1) {
    const action = await episode.action(SEEN);
    assert.equal(action, problem.act(episode.assignment.policy, SEEN));
    await episode.record(0.25);
  }
  assert.equal(episode.done, true);
  const entry = await episode.report();
  assert.deepEqual(totals, [24]);
  const report = JSON.parse(service.reports[0]);
  const fields = ["id", "deployment", "version", "assignment", "number", "values"];
  assert.deepEqual(Object.keys(report), fields);
  assert.ok([0, 1].includes(report.values[0]) && report.values.length === 1);
  const [drawn] = service.calls.filter(({ path }) => path === "/v1/policy");
  assert.equal(String(report.number), drawn.number);
  assert.equal(entry.status, "counted");
  assert.equal((await one.ledger.entries())[0].episode, undefined);
});

test("what an earlier visit did is on record: the step, the action and the return, never what was seen", async () => {
  const first = await visit().begin();
  const action = await first.action(SEEN);
  await first.record(0.25);
  await first.action([61, -2, "large", 1]);
  const [entry] = await storage.read();
  const kept = JSON.stringify(entry);
  for (const seen of ["140", "61", "small", "large"]) assert.doesNotMatch(kept, new RegExp(`[:,[]"?${seen}\\b`));
  const { record } = entry.episode;
  assert.deepEqual(Object.keys(record).sort(), ["action", "reward", "step", "terminated", "total"]);
  assert.deepEqual([record.step, record.total], [1, 0.25]);

  const again = visit();
  const totals = await counted(again);
  const second = await again.begin();
  assert.deepEqual([second.step, second.entry.id], [1, entry.id]);
  assert.deepEqual(second.assignment.policy, first.assignment.policy);
  // A call that a closed page interrupted is made once more, whatever is seen by now.
  assert.equal(await second.action([300, 2, "none", 23]), record.action);
  await second.record(-0.5, { terminated: true });
  await second.record(-0.5, { terminated: true });
  await assert.rejects(second.record(7), { field: "reward" });
  assert.equal(typeof action, "number");
  assert.equal((await second.report()).status, "counted");
  assert.deepEqual(totals, [-0.25]);
});

test("a table's episode goes on where it was, with its states", async () => {
  service = new ServiceForTests(example("words"));
  const first = await visit().begin();
  await first.action(2);
  await first.record(1, { next: 1 });
  const second = await visit().begin();
  assert.deepEqual([second.step, second.state], [1, 1]);
  await assert.rejects(second.action(0), { field: "state" });
  const walked = [];
  const walk = async (state, action, h) => {
    walked.push([state, h]);
    return { reward: 0, next: (state + 1) % 3 };
  };
  const third = visit();
  assert.equal((await third.participate(0, walk)).status, "counted");
  assert.deepEqual(walked, [[1, 1], [2, 2], [0, 3]]);
});

test("another tab that has gone on is noticed, and one report is made", async () => {
  const one = visit();
  const [episode, other] = [await one.begin(), await visit().begin()];
  await episode.action(SEEN);
  await assert.rejects(other.action(SEEN), { field: "episode.calls" });
  await episode.record(1, { terminated: true });
  const entries = [await episode.report(), await other.report()];
  assert.equal(entries[0].body, entries[1].body);
  assert.equal(new Set(service.reports).size, 1);
});

test("whoever leaves, and whoever comes back after the time that was fixed, reports", async () => {
  const due = new Date(3e12);
  const one = visit();
  const totals = await counted(one);
  let now = 2.9e9;
  one.ledger.clock = () => now;
  const episode = await one.begin({ due });
  await episode.action(SEEN);
  await episode.record(5);
  assert.deepEqual(await one.resume(), []);
  now = 3e9;
  const [entry] = await one.resume();
  assert.deepEqual([entry.status, totals], ["counted", [null]]);
});

test("a report that is made early is sent at its time", async () => {
  const one = visit();
  let now = 2.9e9;
  one.ledger.clock = () => now;
  const episode = await one.begin({ due: new Date(3e12) });
  await episode.action(SEEN);
  await episode.record(5, { terminated: true });
  const entry = await episode.report();
  assert.equal(entry.status, "pending");
  assert.deepEqual([await one.resume(), service.reports], [[], []]);
  now = 3.1e9;
  assert.equal((await one.resume())[0].body, entry.body);
  assert.deepEqual(service.reports, [entry.body]);
  for (const wrong of [3e12, "soon", new Date(NaN)]) {
    await assert.rejects(visit().begin({ due: wrong }), { field: "due" });
  }
});

test("returns without bounds stay numbers, and rewards that are none are refused", async () => {
  const one = visit();
  const totals = await counted(one);
  const episode = await one.begin();
  for (const reward of [1e308, 1e308, -1e308, -1e308, -1e308]) {
    await episode.action(SEEN);
    await episode.record(reward);
  }
  await episode.action(SEEN);
  for (const reward of [NaN, Infinity, "1", undefined]) {
    await assert.rejects(episode.record(reward), { field: "reward" });
  }
  await episode.record(0, { terminated: true });
  await episode.report();
  assert.ok(totals.every(Number.isFinite));
});

test("a return is compared strictly with the threshold", async () => {
  const { problem, randomizer } = await visit().deployment();
  const [least, most] = problem.returns;
  const held = (total, r) => randomizer.held(total, { low: 0, high: 2 ** 16, own: [r, false] });
  assert.deepEqual([held(least, 0), held(least + 1, 0), held(most, 2 ** 32 - 1)], [0, 1, 1]);
  const middle = (least + most) / 2;
  assert.deepEqual([held(middle, 2 ** 31), held(middle + 1e-9, 2 ** 31)], [0, 1]);
});

test("calls that are out of order are refused", async () => {
  const episode = await visit().begin();
  await assert.rejects(episode.record(1), { field: "step" });
  await assert.rejects(episode.action([1, 2]), { field: "observation" });
  await episode.action(SEEN);
  await episode.report();
  await assert.rejects(episode.action(SEEN), { field: "step" });
  await assert.rejects(episode.record(1), { field: "step" });
});

const FITS = ["assignment", "plan"].map((kind) => ({ field: null, kind, part: null, change: {} }));

for (const { field, kind, part, change } of [...FITS, ...VECTORS.hostile.refused]) {
  if (kind === "deployment") continue;
  // The relay's deployment has a whole plan; without the relay the assignment is what is received.
  const { shuffle, ...direct } = VECTORS.hostile.document;
  const document = kind === "plan" ? VECTORS.hostile.document : direct;
  const what = JSON.stringify(change).slice(0, 60);
  const outcome = field === null ? "one episode begins" : "nothing is paid for or drawn";
  test(`${outcome}: ${kind} ${part ?? ""} ${field} ${what}`, async () => {
    const { digest } = await readDeployment(document);
    const sent = changed(VECTORS.hostile[kind], part, change);
    service = new ServiceForTests({ document, digest, reports: [{ assignment: null }] });
    service.assigned = (number) => ({ ...sent, number, deployment: digest, ...numberOf(change) });
    const one = visit();
    const totals = await counted(one);
    if (field === null) {
      assert.equal((await one.begin()).done, false);
      return;
    }
    await assert.rejects(one.begin(), (error) => error instanceof InputError && error.field === field);
    assert.deepEqual([totals, await one.ledger.entries(), service.reports], [[], [], []]);
  });
}

function numberOf(change) {
  return Object.hasOwn(change, "number") ? { number: change.number ?? undefined } : {};
}

test("two tabs that take part at once play one episode to its end, and make one report", async () => {
  const [one, other] = [visit(), visit()];
  const totals = [await counted(one), await counted(other)];
  const later = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
  const step = (ms) => async () => {
    await later(ms);
    return { reward: 0.25, next: SEEN };
  };
  const entries = await Promise.all([one.participate(SEEN, step(1)), other.participate(SEEN, step(3))]);
  assert.deepEqual(entries[0], entries[1]);
  assert.deepEqual(totals.flat(), [24]);
  assert.deepEqual(service.reports, [entries[0].body]);
});
