// The vectors' deployments by name.

import { readFile } from "node:fs/promises";

export const VECTORS = JSON.parse(
  await readFile(new URL("../test/vectors.json", import.meta.url), "utf8"),
);

/** Return a copy of one of the vectors' deployments, with its reports. */
export function example(name) {
  return structuredClone(VECTORS.deployments.find(({ document }) => document.name === name));
}
