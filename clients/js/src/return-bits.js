// One bit of the return, hidden by randomized response: the whole ε, and no state is reported.

import { AskingMechanism } from "./asking.js";
import { defineMechanism } from "./mechanisms.js";

/** Asks each user for one bit of the return. */
export class ReturnBits extends AskingMechanism {
  constructor(shape, epsilon, randomizer) {
    super(shape, epsilon, randomizer, ["return"], 1);
  }
}

defineMechanism("return-bits", ReturnBits);
