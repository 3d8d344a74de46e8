// One bit of the return under a shifted policy, hidden by randomized response: the whole ε, and no
// state or action is reported.

import { InputError, record, wholeNumber } from "./errors.js";
import { defineMechanism } from "./mechanisms.js";
import { exponentialFromBelow } from "./numbers.js";
import { drawItems, readOracle } from "./oracle.js";
import { subsetBlanket } from "./shuffle.js";

const KIND = "threshold";
/** Ends of thresholds, and the shares of a baseline, are whole multiples of 1/UNIT. */
const UNIT = 2 ** 16;
/** Of so many parts of the range of returns a baseline has a share. */
const CELLS = 256;
const KEYS = ["kind", "low", "high", "baseline", "own"];

/**
 * Asks whether the return R was above the user's threshold u; both are shares of the range of returns.
 * The word r of the user's number says u = (a + (b − a)·r/2³²)/2¹⁶, with a, b = low, high, or 0 and 2¹⁶
 * for the tenth of the users whose threshold is a wide one.
 */
export class ThresholdBits {
  static forVectors = true;

  constructor(problem, epsilon, randomizer) {
    this.problem = problem;
    const odds = exponentialFromBelow(epsilon);
    this.oracle = readOracle(`randomizer.${KIND}`, 2, odds, randomizer[KIND]);
  }

  /** Return the question that a service sent, or refuse it: one more would cost another ε. */
  readQuestions(questions) {
    if (!Array.isArray(questions) || questions.length !== 1) {
      throw new InputError("questions", questions, "one threshold");
    }
    return [this.#readQuestion("questions[0]", questions[0])];
  }

  /** Refuse a threshold that does not follow from the law and the user's number. */
  checkQuestions([{ own }], law) {
    if (law !== null && own !== null) {
      throw new InputError("questions[0].own", own, "none under a law: it follows from that");
    }
    if (law === null && own === null) {
      throw new InputError("questions[0].own", own, "a word, and whether the threshold is wide");
    }
  }

  /** Return what the user is asked who drew `number`. */
  async drawnQuestions([question], law, number) {
    if (law === null) return [question];
    const { r, wide } = await law.publicWords(number);
    return [{ ...question, own: [r, wide] }];
  }

  /** Return what reports hide behind in a crowd. */
  blankets() {
    return [subsetBlanket(this.oracle)];
  }

  /** Return the item of a report: 1 stands for "above". A user who left holds a fair coin. */
  privatize(total, { questions: [question] }, source) {
    const item = this.held(total, question) ?? source.belowMany(2, 1)[0];
    return drawItems(this.oracle, item, source);
  }

  /** Return values whose digits take as much room as any report's. */
  longest() {
    return [1];
  }

  /** Return the items of a report that answer each question. */
  answered(assignment, values) {
    return [values];
  }

  /** Return what an item stands for. */
  meaning(question, item) {
    return { above: item };
  }

  /** Return the user's bit, or null for one who left. */
  held(total, question) {
    if (total === null) return null;
    const [least, most] = this.problem.returns;
    const scaled = (Math.max(least, Math.min(total, most)) - least) / (most - least);
    return scaled > thresholdOf(question) ? 1 : 0;
  }

  /** Return the threshold of a user's question as a return, to be shown. */
  shownThreshold(question) {
    const [least, most] = this.problem.returns;
    return least + (most - least) * thresholdOf(question);
  }

  #readQuestion(field, question) {
    const { kind, low, high, baseline, own = null } = record(field, question);
    if (kind !== KIND) throw new InputError(`${field}.kind`, kind, KIND);
    for (const key of Object.keys(question)) {
      if (!KEYS.includes(key)) throw new InputError(`${field}.${key}`, question[key], "no such key");
    }
    wholeNumber(`${field}.low`, low, 0, UNIT - 1);
    wholeNumber(`${field}.high`, high, low + 1, UNIT);
    const isShare = (share, place, all) =>
      Number.isInteger(share) && share >= 0 && share <= (place === 0 ? UNIT : all[place - 1]);
    if (!Array.isArray(baseline) || baseline.length !== CELLS || !baseline.every(isShare)) {
      const expected = `${CELLS} whole numbers from ${UNIT} to 0, none above the one before`;
      throw new InputError(`${field}.baseline`, baseline, expected);
    }
    if (own !== null) {
      const isOwn = Array.isArray(own) && own.length === 2 && typeof own[1] === "boolean";
      if (!isOwn) {
        throw new InputError(`${field}.own`, own, "a word, and whether the threshold is wide");
      }
      wholeNumber(`${field}.own`, own[0], 0, 2 ** 32 - 1);
    }
    return { kind, step: 0, low, high, baseline, own, oracle: this.oracle };
  }
}

/** Return u; all of it is exact. */
function thresholdOf({ low, high, own: [r, wide] }) {
  const [a, b] = wide ? [0, UNIT] : [low, high];
  return (a + (b - a) * (r / 2 ** 32)) / UNIT;
}

defineMechanism("threshold-bits", ThresholdBits);
