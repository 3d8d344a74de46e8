// What a service hands to one user: a whole policy and, with some mechanisms, questions.

import { InputError, record, wholeNumber } from "./errors.js";

/** Read what a service sent to a user who drew `number`; what does not fit is refused. */
export async function readAssignment(document, deployment, number) {
  record("assignment", document);
  if (document.deployment !== deployment.digest) {
    throw new InputError("deployment", document.deployment, deployment.digest);
  }
  const { law, policy, number: own } = document;
  const { problem, randomizer } = deployment;
  const read = {
    deployment: deployment.digest,
    version: wholeNumber("version", document.version, 0),
    assignment: wholeNumber("assignment", document.assignment, 0),
  };
  const isDrawn = own !== undefined || law !== undefined;
  // Its policy, or the law of all of them. Nobody but the user chooses which one that is.
  if (isDrawn && (own !== number || own === undefined)) {
    throw new InputError("number", own, `${number}, which this user drew`);
  }
  const known = law === undefined ? null : problem.readLaw(law);
  const given = known === null ? problem.readPolicy(policy, { drawn: isDrawn }) : null;
  const questions = randomizer.readQuestions(document.questions);
  randomizer.checkQuestions?.(questions, known);
  return {
    ...read,
    policy: known === null ? given : await known.policy(number),
    questions: (await randomizer.drawnQuestions?.(questions, known, number)) ?? questions,
    ...(isDrawn ? { number } : {}),
  };
}
