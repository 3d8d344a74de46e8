// Exact numbers: fractions of two BigInts, { top, bottom } with bottom > 0.

import { InputError } from "./errors.js";

const DECIMAL = /^\d{1,400}(\.\d{1,400})?$/;
const WHOLE = /^\d{1,400}$/;
const EXPONENT_PRECISION = 256n;
// No randomizer's ratio of two 64-bit numbers, times the number of answers, comes near e^200.
const LARGEST_EXPONENT = 200n;

/** Read a decimal string such as "0.37", exactly. */
export function decimal(field, text) {
  if (typeof text !== "string" || !DECIMAL.test(text)) {
    throw new InputError(field, text, "a decimal number ≥ 0, as a string");
  }
  const [whole, part = ""] = text.split(".");
  return { top: BigInt(whole + part), bottom: 10n ** BigInt(part.length) };
}

/** Read a whole number that may exceed 53 bits. */
export function bigWhole(field, text) {
  if (typeof text !== "string" || !WHOLE.test(text)) {
    throw new InputError(field, text, "a whole number ≥ 0, as a string");
  }
  return BigInt(text);
}

/** Write what `decimal` reads; the denominator is a power of ten. */
export function writeDecimal({ top, bottom }) {
  const places = String(bottom).length - 1;
  const digits = String(top).padStart(places + 1, "0");
  const whole = digits.slice(0, digits.length - places);
  const part = digits.slice(digits.length - places).replace(/0+$/, "");
  return part === "" ? whole : `${whole}.${part}`;
}

/** Add two fractions whose denominators are powers of one number. */
export function sum(first, second) {
  const bottom = first.bottom > second.bottom ? first.bottom : second.bottom;
  const of = (part) => part.top * (bottom / part.bottom);
  return { top: of(first) + of(second), bottom };
}

/** Multiply a fraction by a whole number. */
export function times({ top, bottom }, number) {
  return { top: top * BigInt(number), bottom };
}

/** Whether one fraction is at most another. */
export function atMost(first, second) {
  return first.top * second.bottom <= second.top * first.bottom;
}

/** Return ⌈fraction⌉. */
export function ceiling({ top, bottom }) {
  return (top + bottom - 1n) / bottom;
}

/** Return a fraction that is at most e^x, by less than 2⁻²⁴⁰ of it (for x > 200, that of 200). */
export function exponentialFromBelow({ top, bottom }) {
  const capped = top > LARGEST_EXPONENT * bottom;
  const [numerator, denominator] = capped ? [LARGEST_EXPONENT, 1n] : [top, bottom];
  const one = 1n << EXPONENT_PRECISION;
  // Σ xᵏ/k!, every term rounded down and the rest left out: all that is lost is positive.
  let total = 0n;
  let term = one;
  for (let k = 1n; term > 0n; k += 1n) {
    total += term;
    term = (term * numerator) / (denominator * k);
  }
  return { top: total, bottom: one };
}

/** Return a fraction in lowest terms. */
export function lowestTerms({ top, bottom }) {
  let [one, other] = [top, bottom];
  while (other !== 0n) [one, other] = [other, one % other];
  return { top: top / one, bottom: bottom / one };
}

/** Return a double from 0 to 1 as the fraction that it is, in lowest terms. */
export function exactFraction(value) {
  if (value === 0 || value === 1) return { top: BigInt(value), bottom: 1n };
  const view = new DataView(new ArrayBuffer(8));
  view.setFloat64(0, value);
  const bits = view.getBigUint64(0);
  const biased = bits >> 52n;
  // Below 2⁻¹⁰²² the leading 1 is not implied, and the exponent stays where it was.
  let top = (bits & 0xfffffffffffffn) | (biased === 0n ? 0n : 1n << 52n);
  let places = 1075n - (biased === 0n ? 1n : biased);
  for (; top % 2n === 0n; places -= 1n) top /= 2n;
  return { top, bottom: 1n << places };
}
