import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";

import { Client, ForgetfulStorage, InputError, NOTHING, ServiceError, servedDigest } from "../ldprl.js";
import { example } from "../testing/examples.js";
import { ServiceForTests } from "../testing/service.js";

const SERVICE = "https://service.example/";
const lucky = async (state) => ({ reward: 1, next: (state + 1) % 3 });
const down = () => {
  throw new TypeError("network down");
};
const answer = (status, body, headers) => () => Response.json(body, { status, headers });

let service;
let storage;
let waits;

beforeEach(() => {
  service = new ServiceForTests(example("words"));
  storage = new ForgetfulStorage();
  waits = [];
});

function client(options = {}) {
  const sleep = async (milliseconds) => waits.push(milliseconds);
  const { digest, fetch } = service;
  return new Client(SERVICE, { digest, storage, fetch, sleep, ...options });
}

test("one user takes part, and what leaves is the report alone", async () => {
  const entry = await client().participate(0, lucky);
  assert.equal(entry.status, "counted");
  assert.deepEqual(service.reports, [entry.body]);
  const report = JSON.parse(entry.body);
  const fields = ["id", "deployment", "version", "assignment", "values"];
  assert.deepEqual(Object.keys(report), fields);
  assert.match(report.id, /^[0-9a-f]{32}$/);
  assert.equal(service.calls.find(({ path }) => path === "/v1/policy").id, report.id);
  assert.equal(report.version, service.assigned.version);
  assert.equal(report.values.length, service.document.randomizer.reward.size);
  assert.ok(service.calls.every(({ credentials }) => credentials === "omit"));
});

test("the same bytes are sent until they are acknowledged, never faster than asked", async () => {
  const one = client();
  const entry = await (await one.begin()).report({ send: false });
  service.failures = [
    down,
    answer(503, { cause: "overloaded" }, { "retry-after": "7" }),
    answer(
      429,
      { cause: "rate-limited" },
      { "retry-after": new Date(Date.now() + 9e3).toUTCString() },
    ),
    () => new Response("<html>a proxy's page"),
  ];
  assert.equal((await one.send(entry)).status, "counted");
  const bodies = service.calls.filter(({ method }) => method === "POST").map(({ body }) => body);
  assert.deepEqual(new Set(bodies), new Set([entry.body]));
  assert.equal(bodies.length, 5);
  assert.ok(waits[0] >= 0 && waits[0] < 1_000);
  assert.ok(waits[1] >= 7_000 && waits[1] < 9_000);
  assert.ok(waits[2] > 7_000 && waits[2] < 13_000);
  assert.ok(waits[3] >= 0 && waits[3] < 8_000);
});

test("a report that could not be sent is sent by the next visit, unchanged", async () => {
  const first = client({ attempts: 2 });
  const entry = await (await first.begin()).report({ send: false });
  service.failures = [down, down];
  await assert.rejects(first.send(entry), (error) => error instanceof ServiceError && error.later);
  const trajectory = [];
  const settled = await client().participate(0, async (state) => trajectory.push(state) && null);
  assert.deepEqual([settled.body, settled.status], [entry.body, "counted"]);
  assert.deepEqual([service.reports, trajectory], [[entry.body], []]);
});

test("a lost acknowledgement does not make a second report", async () => {
  const one = client({ attempts: 1 });
  const entry = await (await one.begin()).report({ send: false });
  service.failures = [
    async (url, options) => {
      await service.fetch(url, options);
      return down();
    },
  ];
  await assert.rejects(one.send(entry), ServiceError);
  const [settled] = await client().resume();
  assert.equal(settled.status, "duplicate");
  assert.equal(new Set(service.reports).size, 1);
});

test("a response about another report settles nothing", async () => {
  const one = client({ attempts: 1 });
  const entry = await (await one.begin()).report({ send: false });
  service.failures = [answer(200, { id: "0".repeat(32), status: "counted" })];
  await assert.rejects(one.send(entry), ServiceError);
  assert.equal((await one.ledger.latest(service.digest)).status, "pending");
});

test("a refusal is final and states its cause; a proxy's refusal is not", async () => {
  const one = client();
  const entry = await (await one.begin()).report({ send: false });
  service.failures = [answer(403, { error: "who are you?" })];
  await assert.rejects(one.send(entry), (error) => error.status === 403);
  assert.equal((await one.ledger.latest(service.digest)).status, "pending");
  service.failures = [answer(410, { cause: "expired-version", detail: "too late" })];
  const settled = await one.send(entry);
  assert.deepEqual([settled.status, settled.cause], ["refused", "expired-version"]);
  assert.equal((await one.participate(0, lucky)).status, "refused");
  assert.equal(service.reports.length, 0);
});

test("a service that asks for hours is not waited for", async () => {
  const one = client();
  const entry = await (await one.begin()).report({ send: false });
  service.failures = [answer(503, { cause: "paused" }, { "retry-after": "86400" })];
  await assert.rejects(one.send(entry), (error) => error.reason === "paused");
  assert.deepEqual(waits, []);
});

test("who stops, and whose step fails, reports nevertheless", async () => {
  const privatized = [];
  const listening = async () => {
    storage = new ForgetfulStorage();
    const one = client();
    const deployment = await one.deployment();
    deployment.privatize = (trajectory) => privatized.push(trajectory) && [0, 1];
    return one;
  };
  await (await listening()).participate(0, async () => null);
  const broken = async () => ({ reward: 2, next: 0 });
  await assert.rejects((await listening()).participate(0, broken), InputError);
  await assert.rejects((await listening()).participate(-1, lucky), InputError);
  assert.deepEqual(privatized, [NOTHING, NOTHING, NOTHING]);
  assert.equal(service.reports.length, 3);
});

test("an episode follows the policy and keeps what happened", async () => {
  const one = client();
  const episode = await one.begin();
  const { policy } = episode.assignment;
  assert.equal(episode.state, null);
  assert.equal(await episode.action(2), policy[0][2]);
  for (let h = 0; h < 3; h += 1) {
    await episode.record(1, { next: h });
    assert.equal(await episode.action(), policy[h + 1][h]);
  }
  assert.equal(episode.done, false);
  await episode.record(0.5);
  assert.deepEqual(episode.data(), {
    states: [2, 0, 1, 2],
    actions: [2, 0, 1, 2].map((state, h) => policy[h][state]),
    rewards: [1, 1, 1, 0.5],
  });
  assert.equal(episode.done, true);
  await assert.rejects(episode.action(1), { field: "step" });
});

test("one report for a deployment, more only within a budget", async () => {
  const one = client();
  const entry = await one.participate(0, lucky);
  assert.deepEqual(await one.participate(0, lucky), entry);
  await assert.rejects(one.participate(0, lucky, { again: true }), (e) => e.field === "budget");
  const rich = client({ budget: "5.9" });
  const further = await rich.participate(0, lucky, { again: true });
  assert.notEqual(further.id, entry.id);
  assert.equal(await rich.ledger.spent(), "4");
  assert.equal(await rich.ledger.spent(service.digest), "4");
  assert.equal(await rich.ledger.spent("another"), "0");
  await assert.rejects(rich.participate(0, lucky, { again: true }), (e) => e.field === "epsilon");
  assert.equal(service.reports.length, 2);
  // Nor did anybody ask for a policy that no report is to follow.
  assert.equal(service.calls.filter(({ path }) => path === "/v1/policy").length, 2);
});

test("with days, a report counts until so long after its verdict", async () => {
  const one = client({ budget: { epsilon: "4", days: 7 } });
  let now = 2e9;
  one.ledger.clock = () => now;
  const take = () => one.participate(0, lucky, { again: true });
  const left = async () => one.ledger.left(await one.deployment());
  assert.deepEqual(await left(), { reports: 2, counted: "0", days: 0 });
  assert.equal((await take()).settled, now);
  now += 86400;
  await take();
  await assert.rejects(take(), (e) => e.field === "epsilon" && e.message.includes("any 7 days"));
  assert.deepEqual(await left(), { reports: 0, counted: "4", days: 6 });
  now += 6 * 86400 - 1;
  await assert.rejects(take());
  now += 1;
  await take();
  await assert.rejects(take());
  // A clock that is put back frees nothing.
  now -= 30 * 86400;
  await assert.rejects(take());
  assert.equal(await one.ledger.spent(), "6");
});

test("a verdict that a clock from 1970 has dated counts for ever", async () => {
  const one = client({ budget: { epsilon: "4", days: 365 } });
  const take = () => one.participate(0, lucky, { again: true });
  let now = 40;
  one.ledger.clock = () => now;
  await take();
  now = 1_767_225_599;
  await take();
  for (now of [50, 2e9, 4e9]) {
    await assert.rejects(take(), (e) => e.field === "epsilon");
    const { reports, counted, days } = await one.ledger.left(await one.deployment());
    assert.deepEqual([reports, counted, days], [0, "4", null]);
  }
});

test("a report without a verdict counts for ever", async () => {
  const one = client({ budget: { epsilon: "2", days: 1 } });
  let now = 2e9;
  one.ledger.clock = () => now;
  await (await one.begin()).report({ send: false });
  now += 1e9;
  assert.deepEqual(await one.ledger.left(await one.deployment()), {
    reports: 0,
    counted: "2",
    days: null,
  });
});

for (const days of [0, -1, "7", NaN, Infinity]) {
  test(`a budget for ${days} days is refused`, () => {
    assert.throws(() => client({ budget: { epsilon: "2", days } }), { field: "budget.days" });
  });
}

test("an episode makes one report, however often it is asked for", async () => {
  const one = client({ budget: "100" });
  const episode = await one.begin({ again: true });
  assert.equal(await one.begin({ again: true }), episode);
  const entry = await episode.report({ send: false });
  assert.deepEqual(await episode.report({ send: false }), entry);
  assert.equal(await one.ledger.spent(), "2");
  assert.notEqual((await one.begin({ again: true })).entry.id, entry.id);
  assert.equal((await episode.report()).status, "counted");
});

test("a report is written down before anybody sees it", async () => {
  const one = client();
  const episode = await one.begin();
  storage.change = async () => {
    throw new Error("the store is full");
  };
  await assert.rejects(episode.report(), /full/);
  await assert.rejects(one.participate(0, lucky), /full/);
  assert.deepEqual(service.reports, []);
});

test("a storage of another kind is refused", () => {
  assert.throws(
    () => client({ storage: {} }),
    (error) => error.field === "storage",
  );
});

test("a deployment other than the pinned one is refused", async () => {
  const other = client({ digest: "0".repeat(64) });
  await assert.rejects(other.participate(0, lucky), (e) => e.field === "deployment digest");
  assert.deepEqual(service.reports, []);
});

test("a client without a digest is refused: nothing would be pinned", () => {
  for (const digest of [undefined, null, "", "0", "A".repeat(64)]) {
    assert.throws(
      () => client({ digest }),
      (error) => error.field === "digest",
    );
  }
  assert.throws(() => new Client(SERVICE), InputError);
});

test("a server that renames its deployment gets no further report", async () => {
  for (let visit = 0; visit < 6; visit += 1) {
    service.document = { ...service.document, name: `visit ${visit}` };
    await assert.rejects(client().participate(0, lucky), (e) => e.field === "deployment digest");
  }
  assert.deepEqual(service.reports, []);
});

test("the served digest is computed, not believed", async () => {
  assert.equal(await servedDigest(SERVICE, { fetch: service.fetch }), service.digest);
  service.document = { ...service.document, name: "another" };
  assert.notEqual(await servedDigest(SERVICE, { fetch: service.fetch }), service.digest);
});

test("a response without end is given up on while it arrives", async () => {
  let sent = 0;
  const endless = () =>
    new Response(
      new ReadableStream({
        pull(controller) {
          sent += 2 ** 20;
          controller.enqueue(new Uint8Array(2 ** 20).fill(32));
        },
      }),
    );
  service.failures = [endless];
  await assert.rejects(client({ attempts: 1 }).deployment(), /more than 8388608 bytes/);
  assert.ok(sent <= 12 * 2 ** 20);
});

test("redirects are not followed", async () => {
  service.failures = [() => Response.redirect("https://elsewhere.example/v1/deployment", 307)];
  await assert.rejects(client().deployment(), (e) => /redirect/.test(e.message) && !e.later);
  assert.deepEqual(
    service.calls.map(({ redirect }) => redirect),
    ["manual"],
  );
});
