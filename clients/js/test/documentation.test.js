import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { test } from "node:test";

import { ForgetfulStorage } from "../ldprl.js";
import { example } from "../testing/examples.js";
import { ServiceForTests } from "../testing/service.js";

const PAGE = new URL("../../../docs/service/browser-client.md", import.meta.url);
const BLOCK = /^```js\n(.*?)^```$/gms;
const blocks = [...(await readFile(PAGE, "utf8")).matchAll(BLOCK)].map(([, code]) => code);

const act = async (state) => ({ reward: 0.5, next: (state + 1) % 3 });
const look = async () => [140, -3, 0.5, 30];
const follow = async () => ({ reward: 0.25 });

/** Run a block as the page has it, against a service in memory; return what it printed. */
async function run(code, service) {
  const module = String(new URL("../ldprl.js", import.meta.url));
  const names = ["fetch", "storageForTests", "act", "look", "follow"];
  const before = names.map((name) => Object.getOwnPropertyDescriptor(globalThis, name));
  const values = [service.fetch, new ForgetfulStorage(), act, look, follow];
  const define = (name, to) => Object.defineProperty(globalThis, name, to);
  names.forEach((name, i) => define(name, { value: values[i], configurable: true }));
  const printed = [];
  const log = console.log;
  console.log = (...words) => printed.push(words.join(" "));
  try {
    // Node has no IndexedDB.
    const options = `storage: globalThis.storageForTests, digest: "${service.digest}"`;
    const here = code.replace("/static/ldprl.js", module).replace('digest: "DIGEST"', options);
    await import(`data:text/javascript,${encodeURIComponent(here)}`);
  } finally {
    console.log = log;
    names.forEach((name, i) => (before[i] ? define(name, before[i]) : delete globalThis[name]));
  }
  return printed;
}

test("the page's code takes part", async () => {
  const service = new ServiceForTests(example("words"));
  assert.deepEqual(await run(blocks[0], service), ["counted 2"]);
  assert.equal(service.reports.length, 1);
});

test("the page's code explains what it sends", async () => {
  const service = new ServiceForTests(example("words"));
  const printed = await run(blocks[1], service);
  assert.equal(printed[0], `${6n ** 4n} other episodes could have produced this report`);
  assert.match(printed[1], /^its \d+ of 7 answers fit \d+ episodes$/);
  assert.equal(printed[2], `those are ${Math.exp(2).toFixed(2)} times as likely as any other`);
  assert.equal(service.reports.length, 1);
});

test("the page's code takes part where users see vectors", async () => {
  const { document, digest, reports } = example("thresholds");
  const service = new ServiceForTests({ document, digest, reports });
  service.assigned = (number) => ({ ...reports[0].assignment, number });
  assert.deepEqual(await run(blocks[2], service), ["pending 1"]);
  // The report waits for its time.
  assert.equal(service.reports.length, 0);
});
