// A report as the text that is sent: all that ever leaves the user.

import { InputError } from "./errors.js";

const ID_DIGITS = 32;

/** Write the report `id` under an assignment. */
export function reportText({ deployment, version, assignment, number }, id, values) {
  const own = number === undefined ? {} : { number };
  return JSON.stringify({ id, deployment, version, assignment, ...own, values });
}

/**
 * Refuse a plan whose reports may be longer than the `size` that it has them padded to. Before
 * anything is drawn: who fails to send the long reports says which ones they are.
 */
export function checkRoom(assignment, size, { randomizer }) {
  const least = reportText(assignment, "0".repeat(ID_DIGITS), randomizer.longest(assignment)).length;
  if (size < least) {
    const expected = `at least ${least}, the longest report of assignment ${assignment.assignment}`;
    throw new InputError("plan.report_bytes", size, expected);
  }
}
