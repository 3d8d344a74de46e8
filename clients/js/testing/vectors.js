// Runs the shared test vectors, in node and in browsers alike.

import {
  ForgetfulStorage,
  Ledger,
  digestOf,
  explain,
  readAssignment,
  readDeployment,
} from "../ldprl.js";
import { drawAssignment } from "../src/plan.js";
import { discreteLaplace } from "../src/laplace.js";
import { TableDistribution } from "../src/tables.js";
import { rewardBit } from "../src/trajectory.js";
import { ReplayedSourceForTests } from "./replayed-source.js";

const SAMPLERS = {
  below_many: (source, { bound, count }) => source.belowMany(BigInt(bound), count),
  discrete_laplace: (source, { numerator, denominator, count }) =>
    discreteLaplace(source, { top: BigInt(numerator), bottom: BigInt(denominator) }, count),
  reward_bit: (source, { reward }) => [rewardBit(source, reward)],
};

/** Return how many vectors were checked, and in words which of them came out differently. */
export async function checkVectors({ samplers, tables, ledgers, deployments, refusals, hostile }) {
  const result = { checked: 0, failures: [] };
  const compare = (what, found, expected) => {
    result.checked += 1;
    const [got, wanted] = [JSON.stringify(found), JSON.stringify(expected)];
    if (got !== wanted) result.failures.push(`${what}: ${got} instead of ${wanted}`);
  };
  for (const vector of samplers) {
    const source = new ReplayedSourceForTests(vector.bytes);
    const values = SAMPLERS[vector.call](source, vector).map(String);
    compare(vector.call, [values, source.exhausted], [vector.values, true]);
  }
  for (const { shape, law, number, table } of tables) {
    compare(`table ${number}`, await new TableDistribution(law, shape).policy(number), table);
  }
  for (const { budget, now, entries, epsilon, left } of ledgers) {
    const storage = new ForgetfulStorage();
    await storage.change(() => ({ entries, result: null }));
    const ledger = new Ledger(storage, budget, () => now);
    compare("ledger", await ledger.left({ epsilon }), left);
  }
  for (const { document, digest, reports } of deployments) {
    compare(`${document.name}: digest`, await digestOf(document), digest);
    const deployment = await readDeployment(document);
    for (const { assignment, trajectory, total, bytes, values } of reports) {
      const source = new ReplayedSourceForTests(bytes);
      const issued = await readAssignment(assignment, deployment, assignment.number);
      const found = deployment.privatize(trajectory ?? total, issued, source);
      compare(`${document.name}: report`, [found, source.exhausted], [values, true]);
      explain(deployment, issued, found);
    }
  }
  const keptTo = await readDeployment(refusals.document);
  for (const { field, value, expected, assignment, number } of refusals.assignments) {
    const said = await readAssignment(assignment, keptTo, number ?? undefined).then(() => null, String);
    const wanted = `InputError: ${field} = ${value}: expected ${expected}`;
    compare(`${field} refused`, said, field === null ? null : wanted);
  }
  const relayed = await readDeployment(hostile.document);
  for (const { field, kind, part, change } of hostile.refused) {
    const refused = await refusedField(hostile, kind, part, change, relayed);
    compare(`hostile ${kind}: ${JSON.stringify(change).slice(0, 80)}`, refused, field);
  }
  return result;
}

/** Return an assignment, or a plan with one part, with other fields; null: not there. */
export function changed(good, part, change) {
  const result = structuredClone(good);
  const place = part === null ? result : result.assignments[part];
  Object.assign(place, structuredClone(change));
  for (const key of Object.keys(change)) if (change[key] === null) delete place[key];
  return result;
}

async function refusedField(hostile, kind, part, change, deployment) {
  const read = {
    deployment: () => readDeployment(changed(hostile.document, part, change)),
    assignment: () => readAssignment(changed(hostile.assignment, part, change), deployment, 5),
    // Nothing may be drawn: the source is empty.
    plan: () =>
      drawAssignment(
        changed(hostile.plan, part, change),
        deployment,
        new ReplayedSourceForTests(""),
      ),
  };
  return read[kind]().then(
    () => null,
    (error) => error.field ?? String(error),
  );
}
