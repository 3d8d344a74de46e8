// How a policy is written: numbers as decimal text, vectors as base64 of little-endian float32.

import { InputError, record } from "../errors.js";

export const MOST_PARAMETERS = 100_000;
export const LARGEST_PARAMETER = 2 ** 100;
const LONGEST = 100;
const LARGEST_NUMBER = 1e100;
const DECIMAL = /^-?\d{1,250}(\.\d{1,250})?$/;

/** Read a decimal number as the nearest double. */
export function decimalNumber(field, text, { positive = false } = {}) {
  const number = typeof text === "string" && DECIMAL.test(text) ? Number(text) : NaN;
  const small = number !== 0 && Math.abs(number) < 1 / LARGEST_NUMBER;
  if (!(Math.abs(number) <= LARGEST_NUMBER) || small || (positive && number <= 0)) {
    const expected = `a number of ordinary size${positive ? " > 0" : ""}, as a string`;
    throw new InputError(field, text, expected);
  }
  return number;
}

/** Return a name or a unit, or refuse it. */
export function printable(field, value, { empty = false } = {}) {
  if (typeof value !== "string" || [...value].length > LONGEST || (value === "" && !empty)) {
    throw new InputError(field, value, `a name of at most ${LONGEST} characters`);
  }
  return value;
}

/** Return one or more names, no two alike, or refuse them. */
export function readNames(field, value) {
  if (!Array.isArray(value) || value.length === 0) {
    throw new InputError(field, value, "a list of names");
  }
  value.forEach((name, index) => printable(`${field}[${index}]`, name));
  if (new Set(value).size < value.length) throw new InputError(field, value, "different names");
  return value;
}

/** Return an object that has no other than these `keys`, or refuse it. */
export function table(field, value, keys) {
  for (const key of Object.keys(record(field, value))) {
    if (!keys.includes(key)) throw new InputError(`${field} key`, key, `one of ${keys.join(", ")}`);
  }
  return value;
}

/** Read `size` numbers, or refuse them; the length comes first. */
export function fromBase64(field, text, size) {
  const expected = `base64 of ${size} little-endian float32 numbers`;
  const refuse = () => {
    throw new InputError(field, text, expected);
  };
  if (typeof text !== "string" || text.length !== 4 * Math.ceil((4 * size) / 3)) refuse();
  let content = "";
  try {
    content = atob(text);
  } catch {
    refuse();
  }
  // Padding may hide bits that are not read.
  if (content.length !== 4 * size || btoa(content) !== text) refuse();
  const bytes = Uint8Array.from(content, (character) => character.charCodeAt(0));
  const view = new DataView(bytes.buffer);
  const numbers = Float64Array.from({ length: size }, (_, i) => view.getFloat32(4 * i, true));
  // NaN is not smaller than anything.
  if (!numbers.every((number) => Math.abs(number) <= LARGEST_PARAMETER)) refuse();
  return numbers;
}
