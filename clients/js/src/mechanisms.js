// The mechanisms that this client can draw, by name. Each file registers its own.

import { InputError } from "./errors.js";

const MECHANISMS = new Map();

/**
 * Make a mechanism known: a class whose constructor takes (shape, epsilon, randomizer) and refuses
 * integers that are less private than ε, with `readQuestions(questions)` and
 * `privatize(trajectory, assignment, source)`, which returns the values to send; behind a relay also
 * `longest(assignment)`, values whose digits take as much room as any report's.
 */
export function defineMechanism(name, Mechanism) {
  if (MECHANISMS.has(name)) throw new InputError("mechanism", name, "one that is not taken");
  MECHANISMS.set(name, Mechanism);
}

/** Return the class of this name, or refuse it. */
export function mechanismOf(name) {
  const known = [...MECHANISMS.keys()].join(", ");
  if (!MECHANISMS.has(name)) {
    throw new InputError("mechanism", name, `one that this client has: ${known}`);
  }
  return MECHANISMS.get(name);
}
