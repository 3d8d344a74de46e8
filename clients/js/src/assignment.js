// What a service hands to one user: a whole policy table and, with some mechanisms, questions.

import { InputError, record, wholeNumber } from "./errors.js";
import { readLaw, tableOf } from "./tables.js";

/** Read an assignment and refuse what does not fit its deployment. */
export async function readAssignment(document, deployment) {
  record("assignment", document);
  if (document.deployment !== deployment.digest) {
    throw new InputError("deployment", document.deployment, deployment.digest);
  }
  const { shape } = deployment;
  const { law, table } = document;
  const read = {
    deployment: deployment.digest,
    version: wholeNumber("version", document.version, 0),
    assignment: wholeNumber("assignment", document.assignment, 0),
    questions: deployment.randomizer.readQuestions(document.questions),
  };
  if (table === undefined && law === undefined) {
    return { ...read, policy: readPolicy(document.policy, shape) };
  }
  // The user's own table, by its number in a law that the service, or everybody, draws from.
  const number = wholeNumber("table", table, 0);
  const policy =
    law === undefined
      ? readPolicy(sameAtEveryStep(document.policy, shape), shape)
      : await tableOf(readLaw(law, shape), number);
  return { ...read, policy, table: number };
}

/** A table of a law may be one row for all steps. */
function sameAtEveryStep(policy, { horizon }) {
  const isOneRow = Array.isArray(policy) && policy.length === 1;
  return isOneRow ? new Array(horizon).fill(policy[0]) : policy;
}

function readPolicy(policy, { states, actions, horizon }) {
  const isAction = (cell) => Number.isInteger(cell) && cell >= 0 && cell < actions;
  const isRow = (row) => Array.isArray(row) && row.length === states && row.every(isAction);
  if (!Array.isArray(policy) || policy.length !== horizon || !policy.every(isRow)) {
    const expected = `${horizon} lists of ${states} actions from 0 to ${actions - 1}`;
    throw new InputError("policy", policy, expected);
  }
  return policy;
}
