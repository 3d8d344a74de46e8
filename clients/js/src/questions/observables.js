// What a question can ask about, by the name on the wire: one file each, which registers itself.

import { InputError } from "../errors.js";
import { byState } from "./partition.js";

const OBSERVABLES = new Map();
// The defaults: an observable looks at one step, which may be any, and at states one by one, and
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
 * Register an observable, what a question asks about, under its `kind`:
 * `outcomes(cells)`: how many outcomes each cell has;
 * `outcome(trajectory, step, where, source, question)`: that of a user who followed the policy;
 * `meaning(outcome, cells)`: what an outcome stands for;
 * `share(outcome, step, shape, where, question)`: { top, bottom }, how many of the episodes with a
 * state of the cell at this step have the outcome;
 * `words(labels)`: what is asked, after "In month 3, …";
 * and, where it differs from the usual, `where(states)`, `steps(horizon)`: how many steps can be
 * asked about, `lastStep(step, horizon)`: up to where the policy must have been followed,
 * `read(field, question, shape)`: its own parameters in a question, or refuse them, `hasBottom`:
 * whether there is an answer for users who have nothing to report, `missingItem(items, source)`: the
 * item that they hold, a random one where there is no such answer.
 */
export function defineObservable(observable) {
  const { kind } = observable;
  if (OBSERVABLES.has(kind)) throw new InputError("kind", kind, "one that is not taken");
  OBSERVABLES.set(kind, Object.freeze({ ...USUAL, ...observable }));
}

/** Return the observable of this kind, or refuse it. */
export function observableOf(field, kind) {
  const observable = OBSERVABLES.get(kind);
  if (observable === undefined) {
    throw new InputError(field, kind, [...OBSERVABLES.keys()].join(", "));
  }
  return observable;
}
