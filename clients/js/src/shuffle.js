// What reports have that a relay mixes: central (ε, δ) of a crowd, computed anew by every client.
//
// The bound is E[(X₁ + … + X_n)⁺]/n for X = (R_x − e^ε R_x')/ω with probability ω, else 0, where ω is
// below every user's law: the same computation as in ldprl/accounting/shuffling.py, which has the
// proofs. In floating point, so it is compared with a tolerance of 10⁻⁶ of δ.

import { InputError, record, wholeNumber } from "./errors.js";
import { decimal } from "./numbers.js";

const KEY = /^[0-9a-f]{64}$/;
const TOLERANCE = 1e-6;
const WORDS = 2 ** 64;
const DIGITS = 12;

/** Read a deployment's promise; refuse one that its crowd does not keep with `randomizer`. */
export function readShuffle(document, randomizer, localEpsilon) {
  if (document === undefined) return null;
  const { crowd, central_epsilon, delta, key } = record("shuffle", document);
  wholeNumber("shuffle.crowd", crowd, 2);
  if (typeof key !== "string" || !KEY.test(key)) {
    throw new InputError("shuffle.key", key, "64 hexadecimal digits");
  }
  const epsilon = number("shuffle.central_epsilon", central_epsilon);
  const limit = number("shuffle.delta", delta);
  if (typeof randomizer.longest !== "function") {
    const expected = "none, with a mechanism that does not say how long its reports are";
    throw new InputError("shuffle", document, expected);
  }
  const blankets = randomizer.blankets?.() ?? [clones(localEpsilon)];
  const found = centralDelta(blankets, crowd, epsilon);
  if (!(found <= limit * (1 + TOLERANCE))) {
    const expected = `one that a crowd of ${crowd} keeps: δ is ${found.toPrecision(3)} there`;
    throw new InputError("shuffle.central_epsilon", central_epsilon, expected);
  }
  return { crowd, centralEpsilon: central_epsilon, delta, key };
}

/** Say in plain words what a user has, with and without trust in the relay. */
export function promises({ epsilon, shuffle }) {
  const { crowd, centralEpsilon, delta } = shuffle;
  return (
    `Even if relay and service work together: ε₀ = ${epsilon}, δ = 0. As long as they do not: ` +
    `ε = ${centralEpsilon}, δ = ${delta}, because your report is mixed with those of at least ` +
    `${crowd - 1} others. If fewer than ${crowd} people report in time, your report is destroyed ` +
    "unread."
  );
}

/** Any ε₀-LDP randomizer hides behind e^{−ε₀}/2 on either of two symbols. */
export function clones(epsilon) {
  const odds = Math.exp(epsilon);
  const ratios = [(2 * odds * odds) / (odds + 1), (2 * odds) / (odds + 1)];
  return [0, 1].map((i) => ({ first: ratios[i], second: ratios[1 - i], mass: 0.5 / odds }));
}

/** Subset selection: own item alone, the other one alone, both, neither. */
export function subsetBlanket({ items, size, threshold }) {
  const keep = Number(threshold) / WORDS;
  const hidden = Number((1n << 64n) - threshold) / WORDS;
  const rest = items - size;
  const ratio = (keep * rest) / (hidden * size);
  const each = (hidden * items) / rest / (items * (items - 1));
  return [
    { first: ratio, second: 1, mass: each * size * rest },
    { first: 1, second: ratio, mass: each * size * rest },
    { first: ratio, second: ratio, mass: each * size * (size - 1) },
    { first: 1, second: 1, mass: each * rest * (rest - 1) },
  ].filter(({ mass }) => mass > 0);
}

/** Several independent answers in one report. */
export function together(blankets) {
  return blankets.reduce((one, other) =>
    one.flatMap((a) =>
      other.map((b) => ({
        first: a.first * b.first,
        second: a.second * b.second,
        mass: a.mass * b.mass,
      })),
    ),
  );
}

/** Return δ(ε) of `crowd` shuffled reports, whichever mixture of the blankets they have. */
export function centralDelta(blankets, crowd, epsilon) {
  const odds = Math.exp(epsilon);
  const laws = blankets.map((blanket) =>
    blanket.map(({ first, second, mass }) => ({ x: first - odds * second, p: mass })),
  );
  const law = worstLaw(laws);
  const top = Math.max(0, ...law.map(({ x }) => x));
  if (top <= 0) return 0;
  const scaled = law.map(({ x, p }) => ({ x: x / top, p }));
  return Math.min(1, (top * expectedExcess(scaled, crowd)) / crowd);
}

/** Dominate all mixtures: the largest of the laws' E(X − t)⁺, joined by straight lines. */
function worstLaw(laws) {
  if (laws.length === 1) return laws[0];
  // Oracles of the same ε differ in the last digit, and slopes between such values are noise.
  const same = (x) => Number(x.toPrecision(DIGITS));
  const all = laws.map((law) => [
    ...law.map(({ x, p }) => ({ x: same(x), p })),
    { x: 0, p: 1 - sum(law, ({ p }) => p) },
  ]);
  const grid = [...new Set(all.flat().map(({ x }) => x))].sort((a, b) => a - b);
  const above = (law, t) => sum(law, ({ x, p }) => (x > t ? p * (x - t) : 0));
  const excess = grid.map((t) => Math.max(...all.map((law) => above(law, t))));
  const slopes = grid.slice(1).map((t, i) => (excess[i + 1] - excess[i]) / (t - grid[i]));
  const steps = [-1, ...slopes, 0];
  return grid
    .map((x, i) => ({ x, p: Math.max(0, steps[i + 1] - steps[i]) }))
    .filter(({ x, p }) => p > 0 && x !== 0);
}

/** E[(X₁ + … + X_n)⁺] by an integral along Re z = θ of the smoothed sum; the largest x is 1. */
function expectedExcess(law, crowd) {
  const separate = crowd * sum(law, ({ x, p }) => p * Math.max(x, 0));
  const hopes = crowd * sum(law, ({ x, p }) => (x > 0 ? p : 0));
  if (crowd * sum(law, ({ p }) => p) < 0.01) return separate;
  const least = -(hopes + 12 * Math.sqrt(hopes) + 144);
  const raised = law.map(({ x, p }) => ({ x: Math.max(x, least), p }));
  const tilt = saddle(raised, crowd);
  const log = Math.log1p(sum(raised, ({ x, p }) => p * Math.expm1(tilt * x)));
  if (crowd * log < -150) return Math.exp(Math.max(crowd * log, -700)) / (Math.E * tilt);
  const tilted = raised.map(({ x, p }) => ({ x, p: p * Math.exp(tilt * x - log) }));
  const mean = sum(tilted, ({ x, p }) => p * x);
  const deviation = Math.sqrt(crowd * (sum(tilted, ({ x, p }) => p * x * x) - mean * mean));
  const noise = Math.min(0.01 * deviation, 0.05 / tilt);
  const step = (2 * Math.PI) / (14 * deviation + crowd * Math.abs(mean) + 45 / tilt);
  const count = Math.ceil(9 / (noise * step));
  let total = 1 / tilt ** 2;
  for (let k = 1; k <= count; k += 1) total += 2 * term(tilted, crowd, tilt, noise, k * step);
  const last = count * step;
  const cut = Math.exp(-((noise * last) ** 2) / 2) / (Math.PI * last);
  const scale = Math.exp(crowd * log + (noise * tilt) ** 2 / 2);
  return Math.min(separate, scale * ((step / (2 * Math.PI)) * total + cut));
}

/** Re of E[e^{iuS}]·e^{−s²u²/2 + is²θu}/(θ + iu)² under the tilted law. */
function term(tilted, crowd, tilt, noise, u) {
  let real = 0;
  let imaginary = 0;
  for (const { x, p } of tilted) {
    real -= 2 * p * Math.sin((u * x) / 2) ** 2;
    imaginary += p * Math.sin(u * x);
  }
  const square = Math.max(2 * real + real ** 2 + imaginary ** 2, -1 + 1e-16);
  const size = Math.exp(0.5 * crowd * Math.log1p(square) - (noise * u) ** 2 / 2);
  const angle = crowd * Math.atan2(imaginary, 1 + real) + noise ** 2 * tilt * u;
  const turned = angle - 2 * Math.atan2(u, tilt);
  return (size * Math.cos(turned)) / (tilt ** 2 + u ** 2);
}

function saddle(law, crowd) {
  const rest = 1 - sum(law, ({ p }) => p);
  const before = (tilt) => {
    const raised = law.map(({ x, p }) => ({ x, p: p * Math.exp(tilt * x) }));
    const whole = rest + sum(raised, ({ p }) => p);
    return crowd * tilt * sum(raised, ({ x, p }) => x * p) < 2 * whole;
  };
  let [low, high] = [0, 1];
  while (before(high)) [low, high] = [high, 2 * high];
  while (high - low > 1e-3 * high) {
    const middle = (low + high) / 2;
    if (before(middle)) low = middle;
    else high = middle;
  }
  return high;
}

function number(field, text) {
  const { top, bottom } = decimal(field, text);
  const value = Number(text);
  if (top === 0n || bottom === 0n || !(value > 0)) {
    throw new InputError(field, text, "a number > 0");
  }
  return value;
}

function sum(list, of) {
  return list.reduce((total, one) => total + of(one), 0);
}
