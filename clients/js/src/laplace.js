// Discrete Laplace noise after Canonne, Kamath & Steinke (2020): integers alone, no floating point.

import { accepted, indices } from "./random.js";

const TEN_FACTORIAL = 3628800;
// 10!/k! for k = 1, …, 10.
const RUN_THRESHOLDS = [3628800, 1814400, 604800, 151200, 30240, 5040, 720, 90, 10, 1];

/** Return `count` integers x, each with probability ∝ e^{−|x|/scale}. */
export function discreteLaplace(source, scale, count) {
  const { top, bottom } = scale;
  const propose = (wanted) => {
    const uniform = source.belowMany(top, wanted);
    const survives = bernoulliExpUnit(source, uniform, top);
    const remainders = uniform.filter((_, i) => survives[i]);
    const wholes = geometric(source, remainders.length);
    const signs = source.belowMany(2, remainders.length);
    const magnitudes = remainders.map((remainder, i) =>
      Number((BigInt(remainder) + top * BigInt(wholes[i])) / bottom),
    );
    const signed = magnitudes.map((size, i) => (signs[i] === 1 ? -size : size));
    // −0 is a second way to draw 0, so it is drawn again.
    return signed.filter((noise) => !Object.is(noise, -0));
  };
  return accepted(propose, count);
}

/**
 * Return true with probability e^{−n/denominator}, for each n ≤ denominator given: toss coins of
 * chance γ/1, γ/2, γ/3, … until one fails. True if that took an odd number of tosses. A coin of
 * chance γ/k is one of γ and one of 1/k.
 */
function bernoulliExpUnit(source, numerators, denominator) {
  const others = harmonicRun(source, numerators.length);
  const result = new Array(numerators.length).fill(true);
  let going = indices(numerators.length);
  for (let toss = 2; going.length > 0; toss += 1) {
    const draws = source.belowMany(denominator, going.length);
    going = going.filter((place, i) => draws[i] < numerators[place]);
    for (const place of going) result[place] = toss % 2 === 1;
    going = going.filter((place) => others[place] >= toss);
  }
  return result;
}

/** Return how many coins of chance 1, 1/2, 1/3, … succeed in a row: k or more have 1/k!. */
function harmonicRun(source, count) {
  const draws = source.belowMany(TEN_FACTORIAL, count);
  // One integer below 10! settles it, unless all of the first ten succeed.
  const run = draws.map((draw) => {
    const failed = RUN_THRESHOLDS.findIndex((threshold) => threshold <= draw);
    return failed === -1 ? RUN_THRESHOLDS.length : failed;
  });
  let going = indices(count).filter((place) => run[place] === RUN_THRESHOLDS.length);
  while (going.length > 0) {
    const tosses = source.belowMany(run[going[0]] + 1, going.length);
    going = going.filter((_, i) => tosses[i] === 0);
    for (const place of going) run[place] += 1;
  }
  return run;
}

/** Return how many tosses of chance 1/e succeed in a row. */
function geometric(source, count) {
  const successes = new Array(count).fill(0);
  let going = indices(count);
  while (going.length > 0) {
    const run = harmonicRun(source, going.length);
    going = going.filter((_, i) => run[i] % 2 === 0);
    for (const place of going) successes[place] += 1;
  }
  return successes;
}
