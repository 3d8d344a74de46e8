import assert from "node:assert/strict";
import { test } from "node:test";

import { VECTORS } from "../testing/examples.js";
import { checkVectors } from "../testing/vectors.js";

test("the same bytes make the same reports as in Python", async () => {
  const { checked, failures } = await checkVectors(VECTORS);
  assert.deepEqual(failures, []);
  assert.ok(checked > 100);
});

test("a report that differs in one value, and a ledger in one cost, would be noticed", async () => {
  const changed = structuredClone(VECTORS);
  changed.deployments[0].reports[0].values[0] += 1;
  changed.ledgers[1].entries[0].epsilon = "3";
  assert.equal((await checkVectors(changed)).failures.length, 2);
});
