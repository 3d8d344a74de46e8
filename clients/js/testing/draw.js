// Draws reports for the auditor: reads a JSON line, writes `count` reports as a JSON line.

import { createInterface } from "node:readline";

import { readAssignment, readDeployment } from "../ldprl.js";
import { InsecureSource } from "./seeded-source.js";

const [document] = process.argv.slice(2).map((text) => JSON.parse(text));
const deployment = await readDeployment(document);
const source = new InsecureSource(0);

for await (const line of createInterface({ input: process.stdin })) {
  const { assignment, data, count } = JSON.parse(line);
  const issued = await readAssignment(assignment, deployment, assignment.number);
  const draw = () => deployment.privatize(data, issued, source);
  process.stdout.write(`${JSON.stringify(Array.from({ length: count }, draw))}\n`);
}
