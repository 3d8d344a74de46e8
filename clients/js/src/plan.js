// A whole plan as a relay hands it out, and the user's own draw from it.

import { InputError, record, wholeNumber } from "./errors.js";
import { MOST_POLICIES, drawNumber } from "./random.js";
import { checkRoom } from "./report.js";

const LARGEST_REPORT = 2 ** 20;
const TOLERANCE = 1e-6;

/**
 * Draw an assignment by the plan's shares; nobody else learns which. Return its document, as
 * `readAssignment` reads it, and how long reports are. The whole plan is checked, not the drawn part
 * alone: what the others are asked is what one's own report hides behind.
 */
export async function drawAssignment(document, deployment, source) {
  const { digest } = deployment;
  if (record("plan", document).deployment !== digest) {
    throw new InputError("plan.deployment", document.deployment, digest);
  }
  const version = wholeNumber("version", document.version, 0);
  const reportBytes = wholeNumber("plan.report_bytes", document.report_bytes, 1, LARGEST_REPORT);
  const parts = readParts(document.assignments, deployment);
  for (const index of longestOf(parts)) {
    const { law, questions } = parts[index];
    const last = law === undefined ? {} : { number: MOST_POLICIES - 1 };
    const issued = { deployment: digest, version, assignment: index, questions, ...last };
    checkRoom(issued, reportBytes, deployment);
  }
  const index = place(parts, source);
  const { law, policy } = parts[index];
  const own = law === undefined ? { policy } : { law, number: drawNumber(source) };
  const { questions } = document.assignments[index];
  return {
    document: { deployment: digest, version, assignment: index, ...own, questions },
    reportBytes,
  };
}

/** Return the number of the part that a user draws. */
function place(parts, source) {
  const total = parts.reduce((sum, { share }) => sum + share, 0);
  let left = (Number(source.words(1)[0]) / 2 ** 64) * total;
  let index = 0;
  while (index + 1 < parts.length && left >= parts[index].share) {
    left -= parts[index].share;
    index += 1;
  }
  return index;
}

/**
 * Return the number of one of those parts whose reports differ in their numbers' length alone: the
 * last one, whose own number is the longest.
 */
function longestOf(parts) {
  const kind = ({ law, questions }) =>
    [law !== undefined, ...questions.map(({ oracle }) => oracle?.items)].join();
  return new Map(parts.map((part, index) => [kind(part), index])).values();
}

/** Return the parts, or refuse the plan if one of them does not fit the deployment. */
function readParts(documents, deployment) {
  if (!Array.isArray(documents) || documents.length === 0) {
    throw new InputError("plan.assignments", documents, "a list of assignments");
  }
  const parts = [];
  const laws = new Map();
  // Parts that name an earlier one's law share it.
  const readLaw = (law) => {
    if (!laws.has(law)) laws.set(law, deployment.problem.readLaw(law));
    return laws.get(law);
  };
  for (const document of documents) {
    const { share } = record("plan.assignments", document);
    if (!(typeof share === "number" && share >= 0 && share <= 1)) {
      throw new InputError("plan.shares", share, "shares from 0 to 1");
    }
    const { law, policy } = policiesOf(document, parts);
    const { problem, randomizer } = deployment;
    const known = law === undefined ? null : readLaw(law);
    if (known === null) problem.readPolicy(policy);
    const questions = randomizer.readQuestions(document.questions);
    randomizer.checkQuestions?.(questions, known);
    const own = document.questions.find((question) => Object.hasOwn(question, "where"));
    if (own !== undefined) {
      const expected = "no partition of its own: the crowd was computed without it";
      throw new InputError("plan.questions", own, expected);
    }
    parts.push({ share, questions, law, policy });
  }
  const total = parts.reduce((sum, { share }) => sum + share, 0);
  if (!(Math.abs(total - 1) <= TOLERANCE)) {
    throw new InputError("plan.shares", total, "shares that sum to 1");
  }
  return parts;
}

/** Return a part's policy, or its law: its own, or that of the earlier part which it names. */
function policiesOf({ law, policy }, earlier) {
  if (typeof law !== "number") return { law, policy };
  const named = earlier[wholeNumber("plan.law", law, 0, earlier.length - 1)].law;
  if (named === undefined) {
    throw new InputError("plan.law", law, "the number of an earlier part that has a law");
  }
  return { law: named };
}
