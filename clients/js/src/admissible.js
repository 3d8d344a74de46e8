// Which actions a deployment states to be admissible in each state, and who keeps to them.

import { InputError, record } from "./errors.js";

/** Return the admissible actions of each state, or null where all are. */
export function readAdmissible(structure, { states, actions }) {
  if (structure === undefined) return null;
  const { admissible } = record("structure", structure);
  if (admissible === undefined) return null;
  const isAction = (action) => Number.isInteger(action) && action >= 0 && action < actions;
  const isRow = (row) => Array.isArray(row) && row.length > 0 && row.every(isAction);
  if (!Array.isArray(admissible) || admissible.length !== states || !admissible.every(isRow)) {
    const expected = `${states} lists of actions from 0 to ${actions - 1}`;
    throw new InputError("structure.admissible", admissible, expected);
  }
  return admissible.map((row) => new Set(row));
}

/** Refuse `steps` in which `given(step, state)` has an action that is not admissible there. */
export function checkAdmissible(field, admissible, steps, given) {
  if (admissible === null) return;
  for (const [h, step] of steps.entries()) {
    for (const [state, allowed] of admissible.entries()) {
      const action = given(step, state).find((one) => !allowed.has(one));
      if (action !== undefined) {
        const expected = `an admissible action of state ${state}: ${[...allowed].join(", ")}`;
        throw new InputError(`${field}[${h}, ${state}]`, action, expected);
      }
    }
  }
}
