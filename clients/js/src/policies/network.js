// Policies that are small neural networks.

import { InputError, wholeNumber } from "../errors.js";
import { ACTIVATIONS } from "./elementary.js";
import { Layered } from "./layers.js";
import { definePolicy } from "./parametric.js";
import { MOST_PARAMETERS } from "./written.js";

const MOST_HIDDEN = 8;

class Network extends Layered {
  static options = ["hidden", "activation"];

  readOptions({ hidden = [16], activation = "tanh" }) {
    if (!Array.isArray(hidden) || hidden.length === 0 || hidden.length > MOST_HIDDEN) {
      throw new InputError("hidden", hidden, `1 to ${MOST_HIDDEN} numbers of units`);
    }
    this.hidden = hidden.map((size) => wholeNumber("hidden", size, 1, MOST_PARAMETERS));
    if (!Object.hasOwn(ACTIVATIONS, activation)) {
      const known = Object.keys(ACTIVATIONS).join(", ");
      throw new InputError("activation", activation, `one of ${known}`);
    }
    this.activation = activation;
  }
}

definePolicy("network", Network);
