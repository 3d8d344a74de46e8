// A whole plan as a relay hands it out, and the user's own draw from it.

import { readAssignment } from "./assignment.js";
import { InputError, record, wholeNumber } from "./errors.js";
import { readLaw } from "./tables.js";

const LARGEST_REPORT = 2 ** 20;

/**
 * Draw an assignment by the plan's shares; nobody else learns which. The whole plan is checked, not
 * the drawn part alone: what the others are asked is what one's own report hides behind.
 */
export async function drawAssignment(document, deployment, source) {
  record("plan", document);
  const parts = document.assignments;
  if (!Array.isArray(parts) || parts.length === 0) {
    throw new InputError("plan.assignments", parts, "a list of assignments");
  }
  const reportBytes = wholeNumber("plan.report_bytes", document.report_bytes, 1, LARGEST_REPORT);
  for (const part of parts) {
    if (!(record("plan.assignments", part).share >= 0 && part.share <= 1)) {
      throw new InputError("plan.shares", part.share, "shares from 0 to 1");
    }
    deployment.randomizer.readQuestions(part.questions);
    const own = (part.questions ?? []).find((question) => Object.hasOwn(question, "where"));
    if (own !== undefined) {
      const expected = "no partition of its own: the crowd was computed without it";
      throw new InputError("plan.questions", own, expected);
    }
  }
  const total = parts.reduce((sum, { share }) => sum + share, 0);
  if (Math.abs(total - 1) > 1e-6) {
    throw new InputError("plan.shares", total, "shares that sum to 1");
  }
  let place = (Number(source.words(1)[0]) / 2 ** 64) * total;
  let index = 0;
  while (index + 1 < parts.length && place >= parts[index].share) {
    place -= parts[index].share;
    index += 1;
  }
  const { deployment: digest, version } = document;
  const part = { ...parts[index], deployment: digest, version, assignment: index };
  if (part.law !== undefined) {
    part.law = lawOf(parts, index);
    const { tables } = readLaw(part.law, deployment.shape);
    part.table = Number(source.below(BigInt(tables)));
  }
  return { ...(await readAssignment(part, deployment)), reportBytes };
}

/** Return the law of a part: its own, or that of the earlier part which it names by number. */
function lawOf(parts, index) {
  const { law } = parts[index];
  if (typeof law !== "number") return law;
  const earlier = parts[wholeNumber("plan.law", law, 0, index - 1)].law;
  return record("plan.law", earlier);
}
