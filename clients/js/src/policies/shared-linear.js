// Policies that rank actions by what is known of each, with the same weights for all.

import { InputError } from "../errors.js";
import { Parametric, definePolicy } from "./parametric.js";

/** The action a of the largest w·x_a; an observation is x_1, …, x_A one after the other. */
class SharedLinear extends Parametric {
  get size() {
    const { names, outputs } = this.actions;
    if (names === undefined || this.features.size % outputs !== 0) {
      const expected = `as many features of each of ${outputs} actions, which are choices`;
      throw new InputError("features", this.features.size, expected);
    }
    return this.features.size / outputs;
  }

  outputs(parameters, inputs) {
    const { size } = this;
    return Float64Array.from({ length: this.actions.outputs }, (_, action) => {
      let sum = parameters[0] * inputs[action * size];
      for (let j = 1; j < size; j += 1) sum += parameters[j] * inputs[action * size + j];
      return sum;
    });
  }
}

definePolicy("shared-linear", SharedLinear);
