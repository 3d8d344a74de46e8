// Subset selection: a public question about one step, or a few, answered with the whole ε.

import { AskingMechanism } from "./asking.js";
import { InputError, wholeNumber } from "./errors.js";
import { defineMechanism } from "./mechanisms.js";

const LAYOUTS = { separate: ["reward", "transition"], joint: ["joint"] };

/** Asks about rewards and transitions, or about both at once. */
export class SubsetSelection extends AskingMechanism {
  constructor(shape, epsilon, randomizer) {
    const { layout } = randomizer;
    if (!Object.hasOwn(LAYOUTS, layout)) {
      throw new InputError("randomizer.layout", layout, "separate or joint");
    }
    const answers = wholeNumber("randomizer.answers", randomizer.answers, 1, shape.horizon);
    super(shape, epsilon, randomizer, LAYOUTS[layout], answers);
    this.layout = layout;
  }
}

defineMechanism("subset-selection", SubsetSelection);
