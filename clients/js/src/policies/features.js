// What a user sees: a vector of numbers with names, units and a public scaling, or categories.

import { InputError } from "../errors.js";
import { MOST_PARAMETERS, decimalNumber, printable, readNames, table } from "./written.js";

/** All entries of what a user sees; what is no finite number or known category enters as zeros. */
export class Features {
  constructor(document) {
    if (!Array.isArray(document) || document.length === 0 || document.length > MOST_PARAMETERS) {
      const expected = `a list of 1 to ${MOST_PARAMETERS} features`;
      throw new InputError("features", document, expected);
    }
    this.each = document.map(readFeature);
    readNames("features", this.each.map(({ name }) => name));
    this.size = this.each.reduce((size, { categories }) => size + (categories.length || 1), 0);
    if (this.size > MOST_PARAMETERS) {
      throw new InputError("features", this.size, `at most ${MOST_PARAMETERS} inputs`);
    }
  }

  /** Return the inputs of a policy; only another length is refused, as the mistake of a program. */
  inputs(observation) {
    const isVector = Array.isArray(observation) || ArrayBuffer.isView(observation);
    const entries = isVector ? observation : [observation];
    if (entries.length !== this.each.length) {
      const expected = `${this.each.length} entries`;
      throw new InputError("observation", `${entries.length} entries`, expected);
    }
    const result = new Float64Array(this.size);
    let place = 0;
    this.each.forEach(({ centre, scale, categories }, index) => {
      const x = numberOf(entries[index], categories);
      if (categories.length === 0) {
        const scaled = (x - centre) / scale;
        if (Number.isFinite(scaled)) result[place] = scaled;
      } else if (Number.isInteger(x) && x >= 0 && x < categories.length) {
        result[place + x] = 1;
      }
      place += categories.length || 1;
    });
    return result;
  }
}

function numberOf(value, categories) {
  if (typeof value === "string") return categories.includes(value) ? categories.indexOf(value) : NaN;
  return ["number", "boolean", "bigint"].includes(typeof value) ? Number(value) : NaN;
}

function readFeature(document) {
  table("feature", document, ["name", "unit", "centre", "scale", "categories"]);
  const name = printable("feature.name", document.name);
  const unit = printable("feature.unit", document.unit ?? "", { empty: true });
  const centre = decimalNumber("feature.centre", document.centre ?? "0");
  const scale = decimalNumber("feature.scale", document.scale ?? "1", { positive: true });
  if (document.categories === undefined) return { name, unit, centre, scale, categories: [] };
  const categories = readNames("feature.categories", document.categories);
  if (centre !== 0 || scale !== 1 || unit !== "") {
    throw new InputError("feature", name, "neither unit nor centre nor scale beside categories");
  }
  return { name, unit, centre, scale, categories };
}
