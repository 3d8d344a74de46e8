// Bits of the return, and where a step led: each user reports one of them, with the whole ε.

import { AskingMechanism } from "./asking.js";
import { defineMechanism } from "./mechanisms.js";

/** Asks each user for one bit of the return, or for one state and the next. */
export class BitsAndMoves extends AskingMechanism {
  constructor(shape, epsilon, randomizer) {
    // Integers for moves are there if moves are asked for: not where there are too many states.
    const moves = randomizer.transition === undefined ? [] : ["transition"];
    super(shape, epsilon, randomizer, ["return", ...moves], 1);
  }
}

defineMechanism("bits-and-moves", BitsAndMoves);
