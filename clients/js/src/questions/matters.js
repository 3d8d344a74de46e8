// What a question can ask, by the name on the wire. One matter, one file: each registers itself.

import { InputError } from "../errors.js";
import { byState } from "./partition.js";

const MATTERS = new Map();
// The defaults: a matter looks at one step, which may be any, and at states one by one, and
// users who have nothing to report have an answer of their own.
const USUAL = {
  where: (states) => byState(states),
  steps: (horizon) => horizon,
  lastStep: (step) => step,
  hasBottom: true,
  read: () => ({}),
  missingItem(items, source) {
    return this.hasBottom ? items - 1 : Number(source.below(BigInt(items)));
  },
};

/**
 * Make a kind of question known, under its `kind`:
 * `outcomes(cells)`: how many outcomes each cell has;
 * `outcome(trajectory, step, where, source, question)`: that of a user who followed the policy;
 * `meaning(outcome, cells)`: what an outcome stands for;
 * `share(outcome, step, shape, where, question)`: { top, bottom }, how many of the lives with a
 * state of the cell at this step have the outcome;
 * `words(labels)`: what is asked, after "In month 3, …";
 * and, where it differs from the usual, `where(states)`, `steps(horizon)`: how many steps can be
 * asked about, `lastStep(step, horizon)`: up to where the policy must have been followed,
 * `read(field, question, shape)`: its own parameters in a question, or refuse them, `hasBottom`:
 * whether there is an answer for users who have nothing to report, `missingItem(items, source)`: the
 * item that they hold, a random one where there is no such answer.
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
