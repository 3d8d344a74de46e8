// Functions in layers. A layer of m units over k inputs has a matrix of (1 + k)·m parameters, row by
// row, the biases first; its sums are added up in this order and divided by a power of two.

import { ACTIVATIONS } from "./elementary.js";
import { Parametric } from "./parametric.js";

/** A problem whose policies are linear, or networks with the layers `hidden`. */
export class Layered extends Parametric {
  readOptions() {
    this.hidden = [];
    this.activation = "tanh";
  }

  get widths() {
    return [this.features.size, ...this.hidden, this.actions.outputs];
  }

  get size() {
    const { widths } = this;
    return widths.slice(1).reduce((size, m, layer) => size + (1 + widths[layer]) * m, 0);
  }

  outputs(parameters, inputs) {
    let values = inputs;
    let start = 0;
    this.widths.slice(1).forEach((m, layer) => {
      if (layer > 0) values = values.map(ACTIVATIONS[this.activation]);
      const sums = parameters.slice(start, start + m);
      for (const value of values) {
        start += m;
        for (let unit = 0; unit < m; unit += 1) sums[unit] += parameters[start + unit] * value;
      }
      start += m;
      const unit = unitOf(values.length);
      values = sums.map((sum) => sum / unit);
    });
    return values;
  }
}

/** Return the largest power of two that is at most √inputs. */
function unitOf(inputs) {
  let unit = 1;
  while (4 * unit * unit <= inputs) unit *= 2;
  return unit;
}
