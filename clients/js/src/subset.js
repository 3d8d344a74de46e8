// Subset selection: a public question about one step, or a few, answered with the whole ε.

import { InputError, record, wholeNumber } from "./errors.js";
import { atMost, bigWhole, exponentialFromBelow } from "./numbers.js";
import { rewardBit } from "./trajectory.js";

const KINDS = { separate: ["reward", "transition"], joint: ["joint"] };
const WORDS = 1n << 64n;

/** Answers with a set of items; the own answer is among them more often than not. */
export class SubsetSelection {
  /** Take the integers of `randomizer`, and refuse them if they tell more than `epsilon`. */
  constructor(shape, epsilon, randomizer) {
    this.shape = shape;
    this.layout = randomizer.layout;
    if (!Object.hasOwn(KINDS, this.layout)) {
      throw new InputError("randomizer.layout", this.layout, "separate or joint");
    }
    // The last step leads nowhere, so that a horizon of 1 has no transitions.
    this.kinds = KINDS[this.layout].filter((kind) => kind !== "transition" || shape.horizon > 1);
    this.answers = wholeNumber("randomizer.answers", randomizer.answers, 1, shape.horizon);
    this.oracles = {};
    const each = { top: epsilon.top, bottom: epsilon.bottom * BigInt(this.answers) };
    const odds = exponentialFromBelow(each);
    for (const kind of this.kinds) {
      this.oracles[kind] = readOracle(kind, shape, odds, randomizer[kind]);
    }
  }

  /** Return the questions that a service sent, or refuse them: one more would cost more than ε. */
  readQuestions(questions) {
    const expected = `${this.answers} about as many steps`;
    if (!Array.isArray(questions) || questions.length !== this.answers) {
      throw new InputError("questions", questions, expected);
    }
    const read = questions.map((question, i) => this.#readQuestion(`questions[${i}]`, question));
    if (new Set(read.map(({ step }) => step)).size < read.length) {
      throw new InputError("questions", questions, expected);
    }
    return read;
  }

  /** Return the items of a report, in increasing order; each question's follow the last one's. */
  privatize(trajectory, { policy, questions }, source) {
    const values = [];
    let start = 0;
    for (const question of questions) {
      const own = this.#answer(trajectory, policy, question, source);
      for (const item of this.#draw(question.kind, own, source)) values.push(start + item);
      start += this.oracles[question.kind].items;
    }
    return values;
  }

  /** Return, for each question, the items of a report that answer it. */
  answered({ questions }, values) {
    let start = 0;
    return questions.map(({ kind }) => {
      const { items } = this.oracles[kind];
      const own = values.filter((value) => value >= start && value < start + items);
      const told = own.map((value) => value - start);
      start += items;
      return told;
    });
  }

  #readQuestion(field, question) {
    const { kind, step } = record(field, question);
    if (!this.kinds.includes(kind)) {
      throw new InputError(`${field}.kind`, kind, this.kinds.join(" or "));
    }
    const steps = kind === "transition" ? this.shape.horizon - 1 : this.shape.horizon;
    return { kind, step: wholeNumber(`${field}.step`, step, 0, steps - 1) };
  }

  #draw(kind, own, source) {
    const { items, size, threshold } = this.oracles[kind];
    const told = source.coins(1, threshold)[0];
    const chosen = new Set(told === 1 ? [own] : []);
    const item = (pick) => (pick >= own ? pick + 1 : pick);
    // Floyd's algorithm: every subset of the others is equally likely.
    for (let last = items - 1 - (size - told); last < items - 1; last += 1) {
      const [pick] = source.belowMany(last + 1, 1);
      chosen.add(item(chosen.has(item(pick)) ? last : pick));
    }
    return [...chosen].sort((first, second) => first - second);
  }

  /** Return what an item stands for; null is the answer of a user who has nothing to tell. */
  meaning(kind, item) {
    const { states } = this.shape;
    if (item === this.oracles[kind].items - 1) return null;
    if (kind === "reward") return { state: Math.floor(item / 2), reward: item % 2 };
    const [rest, next] = [Math.floor(item / states), item % states];
    if (kind === "transition") return { state: rest, next };
    return { state: Math.floor(rest / 2), reward: rest % 2, next };
  }

  /** Return the item that the user holds; the last item stands for nothing to tell. */
  #answer(trajectory, policy, { kind, step }, source) {
    const { states, horizon } = this.shape;
    const upTo = trajectory.states.slice(0, step + 1);
    const follows = upTo.every((state, h) => trajectory.actions[h] === policy[h][state]);
    if (upTo.length === 0 || !follows) return this.oracles[kind].items - 1;
    const state = trajectory.states[step];
    const bit = rewardBit(source, trajectory.rewards[step]);
    if (kind === "reward") return 2 * state + bit;
    const next = step + 1 === horizon ? 0 : trajectory.states[step + 1];
    return (kind === "transition" ? state : 2 * state + bit) * states + next;
  }
}

function readOracle(kind, { states }, odds, given) {
  const field = `randomizer.${kind}`;
  const answers = { reward: 2 * states, transition: states ** 2, joint: 2 * states ** 2 };
  const expected = answers[kind] + 1;
  const items = wholeNumber(`${field}.items`, record(field, given).items, expected, expected);
  const size = wholeNumber(`${field}.size`, given.size, 1, items - 1);
  const threshold = bigWhole(`${field}.threshold`, given.threshold);
  // P(Z | own item in Z) : P(Z | not in Z) = p(d − w) : (1 − p)w with p = threshold/2⁶⁴.
  const told = {
    top: threshold * BigInt(items - size),
    bottom: (WORDS - threshold) * BigInt(size),
  };
  const hidden = { top: told.bottom, bottom: told.top };
  const proper = threshold > 0n && threshold < WORDS;
  if (!proper || !atMost(told, odds) || !atMost(hidden, odds)) {
    throw new InputError(`${field}.threshold`, given.threshold, "one that is as private as ε says");
  }
  return { items, size, threshold };
}
