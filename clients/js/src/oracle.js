// Subset selection: a user holds one of some items and reports a few, the own one more often than not.

import { InputError, record, wholeNumber } from "./errors.js";
import { atMost, bigWhole } from "./numbers.js";

const WORDS = 1n << 64n;

/** Read the integers of an oracle over `expected` items; refuse odds above the fraction `odds`. */
export function readOracle(field, expected, odds, given) {
  const items = wholeNumber(`${field}.items`, record(field, given).items, expected, expected);
  const size = wholeNumber(`${field}.size`, given.size, 1, items - 1);
  const threshold = bigWhole(`${field}.threshold`, given.threshold);
  // P(Z | own item in Z) : P(Z | not in Z) = p(d − w) : (1 − p)w with p = threshold/2⁶⁴.
  const included = {
    top: threshold * BigInt(items - size),
    bottom: (WORDS - threshold) * BigInt(size),
  };
  const excluded = { top: included.bottom, bottom: included.top };
  const proper = threshold > 0n && threshold < WORDS;
  if (!proper || !atMost(included, odds) || !atMost(excluded, odds)) {
    throw new InputError(`${field}.threshold`, given.threshold, "one that is as private as ε says");
  }
  return { items, size, threshold };
}

/** Return the items that a user reports who holds the item `own`, in increasing order. */
export function drawItems({ items, size, threshold }, own, source) {
  const kept = source.coins(1, threshold)[0];
  const chosen = new Set(kept === 1 ? [own] : []);
  const item = (pick) => (pick >= own ? pick + 1 : pick);
  // Floyd's algorithm: every subset of the others is equally likely.
  for (let last = items - 1 - (size - kept); last < items - 1; last += 1) {
    const [pick] = source.belowMany(last + 1, 1);
    chosen.add(item(chosen.has(item(pick)) ? last : pick));
  }
  return [...chosen].sort((first, second) => first - second);
}
