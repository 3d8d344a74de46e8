// What a user is told to do: one of a few choices, or levels on a published grid.

import { InputError, wholeNumber } from "../errors.js";
import { tanh } from "./elementary.js";
import { decimalNumber, printable, readNames, table } from "./written.js";

const MOST_STEPS = 2 ** 30;

/** Read a list of names, or an object with levels, or refuse it. */
export function readActions(document) {
  return Array.isArray(document) ? new Choices(document) : new Levels(document);
}

/** The action of the largest output, the first of equal ones; NaN is not larger than anything. */
class Choices {
  constructor(document) {
    this.names = readNames("actions", document);
    this.outputs = this.names.length;
  }

  choose(outputs) {
    let best = 0;
    for (let action = 1; action < this.outputs; action += 1) {
      if (outputs[action] > outputs[best]) best = action;
    }
    return best;
  }
}

/** Numbers low + (high − low)·g/steps, g = ⌊(t + 1)·steps/2 + ½⌋; NaN counts as zero. */
class Levels {
  constructor(document) {
    const { levels, steps = 1024, map = "squash" } = table("actions", document, [
      "levels",
      "steps",
      "map",
    ]);
    if (!Array.isArray(levels) || levels.length === 0) {
      throw new InputError("actions.levels", levels, "a list of levels");
    }
    this.each = levels.map(readLevel);
    readNames("actions.levels", this.each.map(({ name }) => name));
    this.steps = wholeNumber("actions.steps", steps, 1, MOST_STEPS);
    if (map !== "squash" && map !== "clip") {
      throw new InputError("actions.map", map, "one of squash, clip");
    }
    this.map = map;
    this.outputs = levels.length;
  }

  choose(outputs) {
    return this.each.map(({ low, high }, place) => {
      const z = Number.isNaN(outputs[place]) ? 0 : outputs[place];
      const cut = this.map === "squash" ? tanh(z) : Math.max(Math.min(z, 1), -1);
      const grid = Math.floor((cut + 1) * (this.steps / 2) + 0.5);
      return grid === this.steps ? high : low + ((high - low) * grid) / this.steps;
    });
  }
}

function readLevel(document) {
  table("level", document, ["name", "unit", "low", "high"]);
  const name = printable("level.name", document.name);
  const unit = printable("level.unit", document.unit ?? "", { empty: true });
  const low = decimalNumber("level.low", document.low);
  const high = decimalNumber("level.high", document.high);
  if (low >= high) throw new InputError("level.high", document.high, `a number above ${low}`);
  return { name, unit, low, high };
}
