// What a service hands to one user: a whole policy table and, with some mechanisms, questions.

import { checkAdmissible } from "./admissible.js";
import { InputError, record, wholeNumber } from "./errors.js";
import { readLaw, tableOf } from "./tables.js";

/** Read what a service sent to a user who drew `number`; what does not fit is refused. */
export async function readAssignment(document, deployment, number) {
  record("assignment", document);
  if (document.deployment !== deployment.digest) {
    throw new InputError("deployment", document.deployment, deployment.digest);
  }
  const { law, policy, number: own } = document;
  const read = {
    deployment: deployment.digest,
    version: wholeNumber("version", document.version, 0),
    assignment: wholeNumber("assignment", document.assignment, 0),
    questions: deployment.randomizer.readQuestions(document.questions),
  };
  if (own === undefined && law === undefined) return { ...read, ...readTables({ policy }, deployment) };
  // Its table, or the law of all of them. Nobody but the user chooses which one that is.
  if (own !== number || own === undefined) {
    throw new InputError("number", own, `${number}, which this user drew`);
  }
  const rows = sameAtEveryStep(policy, deployment.shape);
  const tables = readTables({ law, policy: rows }, deployment);
  return { ...read, ...(await drawn(tables, number)), number };
}

/** Return the `policy` or the `law` of an assignment; inadmissible actions are refused. */
export function readTables({ law, policy }, deployment) {
  if (law === undefined) return { policy: readPolicy(policy, deployment) };
  const given = readLaw(law, deployment.shape);
  // Not the drawn table alone: what is refused does not depend on chance.
  const drawable = (row) => row.flatMap((weight, action) => (weight > 0 ? [action] : []));
  checkAdmissible("law.weights", deployment.admissible, given.weights, (part, state) =>
    drawable(part[given.cells.cell[state]]),
  );
  return { law: given };
}

/** Return the policy of a user who was given table `number`, if there is a law. */
export async function drawn({ law, policy }, number) {
  return { policy: law === undefined ? policy : await tableOf(law, number) };
}

/** A table of a law may be one row for all steps. */
function sameAtEveryStep(policy, { horizon }) {
  const isOneRow = Array.isArray(policy) && policy.length === 1;
  return isOneRow ? new Array(horizon).fill(policy[0]) : policy;
}

function readPolicy(policy, { shape: { states, actions, horizon }, admissible }) {
  const isAction = (cell) => Number.isInteger(cell) && cell >= 0 && cell < actions;
  const isRow = (row) => Array.isArray(row) && row.length === states && row.every(isAction);
  if (!Array.isArray(policy) || policy.length !== horizon || !policy.every(isRow)) {
    const expected = `${horizon} lists of ${states} actions from 0 to ${actions - 1}`;
    throw new InputError("policy", policy, expected);
  }
  checkAdmissible("policy", admissible, policy, (row, state) => [row[state]]);
  return policy;
}
