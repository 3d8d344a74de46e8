// Mechanisms whose report is a randomized version of the counters R, N^r and N^p.

import { InputError } from "./errors.js";
import { discreteLaplace } from "./laplace.js";
import { defineMechanism } from "./mechanisms.js";
import { atMost, bigWhole, ceiling, exponentialFromBelow } from "./numbers.js";
import { Layout } from "./trajectory.js";

const WORDS = 1n << 64n;
// Noise is cut here, after privatizing, to bound a report's influence: e^{−45} < 3·10⁻²⁰.
const LAPLACE_SCALES = 45n;
const LARGEST_REACH = 1n << 50n;

class CountingMechanism {
  /** A report has a number for every counter: their number bounds it. */
  static reportsCounters = true;

  constructor(shape) {
    this.layout = new Layout(shape);
  }

  /** A service that counts asks no question. */
  readQuestions(questions) {
    if (!Array.isArray(questions) || questions.length > 0) {
      throw new InputError("questions", questions, "an empty list");
    }
    return questions;
  }

  /** Return values whose digits take as much room as any report's. */
  longest() {
    return Array.from({ length: this.layout.length }, (_, place) => {
      const [low, high] = this.range(place);
      return String(low).length > String(high).length ? low : high;
    });
  }

  /** Return the counters of `trajectory`, randomized. */
  privatize(trajectory, assignment, source) {
    return this.privatizeCounts(this.layout.counts(trajectory, source), source);
  }
}

/** Adds discrete Laplace noise to every counter. */
export class Laplace extends CountingMechanism {
  /** Take the scale of `randomizer`, and refuse it if it is below sensitivity/ε. */
  constructor(shape, epsilon, randomizer) {
    super(shape);
    const top = bigWhole("randomizer.numerator", randomizer.numerator);
    const bottom = bigWhole("randomizer.denominator", randomizer.denominator);
    const least = { top: BigInt(this.layout.sensitivity) * epsilon.bottom, bottom: epsilon.top };
    if (bottom === 0n || !atMost(least, { top, bottom })) {
      const expected = "a scale that is as private as ε says";
      throw new InputError("randomizer", `${top}/${bottom}`, expected);
    }
    this.scale = { top, bottom };
    const reach = ceiling({ top: LAPLACE_SCALES * top, bottom });
    if (reach > LARGEST_REACH) {
      throw new InputError("randomizer", `${top}/${bottom}`, "noise that 50 bits can hold");
    }
    this.reach = Number(reach);
  }

  /** Return the least and the largest number that is reported of the counter at `place`. */
  range(place) {
    return [-this.reach, this.layout.steps(place) + this.reach];
  }

  privatizeCounts(counts, source) {
    const noise = discreteLaplace(source, this.scale, counts.length);
    return counts.map((count, place) => {
      const [low, high] = this.range(place);
      return Math.min(Math.max(count + noise[place], low), high);
    });
  }
}

/** Flips every one-hot bit, and reports how many are set in each counter. */
export class RandomizedResponse extends CountingMechanism {
  /** Take the threshold of `randomizer`, and refuse it if it flips too seldom (or too often). */
  constructor(shape, epsilon, randomizer) {
    super(shape);
    const threshold = bigWhole("randomizer.threshold", randomizer.threshold);
    const bottom = epsilon.bottom * BigInt(this.layout.sensitivity);
    const odds = exponentialFromBelow({ top: epsilon.top, bottom });
    // A bit costs (1 − q)/q or its inverse, with q = threshold/2⁶⁴.
    const kept = { top: WORDS - threshold, bottom: threshold };
    const flipped = { top: threshold, bottom: WORDS - threshold };
    const proper = threshold > 0n && threshold < WORDS;
    if (!proper || !atMost(kept, odds) || !atMost(flipped, odds)) {
      const expected = "one that is as private as ε says";
      throw new InputError("randomizer.threshold", randomizer.threshold, expected);
    }
    this.threshold = threshold;
  }

  range(place) {
    return [0, this.layout.steps(place)];
  }

  privatizeCounts(counts, source) {
    const { horizon, stepDependent } = this.layout.shape;
    const most = stepDependent ? 1 : horizon;
    const flipped = source.coins(counts.length * most, this.threshold);
    return counts.map((count, place) => {
      let ones = 0;
      for (let bit = 0; bit < this.layout.steps(place); bit += 1) {
        ones += (bit < count ? 1 : 0) ^ flipped[place * most + bit];
      }
      return ones;
    });
  }
}

defineMechanism("laplace", Laplace);
defineMechanism("randomized-response", RandomizedResponse);
