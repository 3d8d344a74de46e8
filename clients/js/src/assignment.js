// What a service hands to one user: a whole policy table and, with some mechanisms, questions.

import { InputError, record, wholeNumber } from "./errors.js";

/** Read an assignment and refuse what does not fit its deployment. */
export function readAssignment(document, deployment) {
  record("assignment", document);
  if (document.deployment !== deployment.digest) {
    throw new InputError("deployment", document.deployment, deployment.digest);
  }
  return {
    deployment: deployment.digest,
    version: wholeNumber("version", document.version, 0),
    assignment: wholeNumber("assignment", document.assignment, 0),
    policy: readPolicy(document.policy, deployment.shape),
    questions: deployment.randomizer.readQuestions(document.questions),
  };
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
