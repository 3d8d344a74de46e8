// What a question can ask, by the name on the wire. One matter, one file: each registers itself.

import { InputError } from "../errors.js";
import { byState } from "./partition.js";

const MATTERS = new Map();
// What a matter need not say: it looks at one step, which may be any, and at states one by one.
const USUAL = {
  where: (states) => byState(states),
  steps: (horizon) => horizon,
  lastStep: (step) => step,
};

/**
 * Make a kind of question known, under its `kind`:
 * `outcomes(cells)`: how many outcomes each cell has;
 * `outcome(trajectory, step, where, source)`: the outcome of a user who followed the policy;
 * `meaning(outcome, cells)`: what an outcome stands for;
 * `share(outcome, step, shape, where)`: { top, bottom }, how many of the lives with a state of the
 * cell at this step have the outcome;
 * `words(labels)`: what is asked, after "In month 3, …";
 * and, where it differs from the usual, `where(states)`, `steps(horizon)`: how many steps can be
 * asked about, `lastStep(step, horizon)`: up to where the policy must have been followed.
 */
export function defineMatter(matter) {
  if (MATTERS.has(matter.kind)) throw new InputError("kind", matter.kind, "one that is not taken");
  MATTERS.set(matter.kind, Object.freeze({ ...USUAL, ...matter }));
}

/** Return the matter of this kind, or refuse it. */
export function matterOf(field, kind) {
  const matter = MATTERS.get(kind);
  if (matter === undefined) throw new InputError(field, kind, [...MATTERS.keys()].join(", "));
  return matter;
}
