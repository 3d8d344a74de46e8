// Where a question looks: a public partition of the states. `cell[s]` is the cell of state s.

import { InputError } from "../errors.js";

/** Return the finest partition: every state is a cell of its own. */
export function byState(states) {
  return { cell: Array.from({ length: states }, (_, state) => state), count: states };
}

/** Return the coarsest one: all states are one cell, so that no state is reported. */
export function whole(states) {
  return { cell: new Array(states).fill(0), count: 1 };
}

/** Read the cell of each state, or refuse it: numbers from 0 on, none left out. */
export function readPartition(field, cell, states) {
  const isCell = (value) => Number.isInteger(value) && value >= 0 && value < states;
  if (!Array.isArray(cell) || cell.length !== states || !cell.every(isCell)) {
    throw new InputError(field, cell, `${states} whole numbers: the cell of each state`);
  }
  const count = new Set(cell).size;
  if (Math.max(...cell) + 1 !== count) {
    throw new InputError(field, cell, "cells from 0 on, none left out");
  }
  return { cell, count };
}

/** Return how many states a cell has. */
export function sizeOf({ cell }, number) {
  return cell.filter((value) => value === number).length;
}
