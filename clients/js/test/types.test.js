import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { test } from "node:test";

import * as ldprl from "../ldprl.js";

test("the types name what the module exports, and what classes do", async () => {
  const types = await readFile(new URL("../ldprl.d.ts", import.meta.url), "utf8");
  const declared = types.matchAll(/^export (?:class|const|function) (\w+)/gm);
  assert.deepEqual(Array.from(declared, ([, name]) => name).sort(), Object.keys(ldprl).sort());
  for (const [, name, body] of types.matchAll(/^export class (\w+)[^{]*\{(.*?)^\}/gms)) {
    for (const [, method] of body.matchAll(/^  (\w+)\(/gm)) {
      assert.equal(typeof ldprl[name].prototype[method], "function", `${name}.${method}`);
    }
  }
});
