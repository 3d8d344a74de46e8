// Mechanisms that ask public questions and hide each answer: what they share.

import { InputError, record, wholeNumber } from "./errors.js";
import { exponentialFromBelow } from "./numbers.js";
import { drawItems, readOracle } from "./oracle.js";
import { observableOf } from "./questions/index.js";
import { readPartition } from "./questions/partition.js";
import { subsetBlanket, together } from "./shuffle.js";

/** Answers with a set of items; the own answer is among them more often than not. */
export class AskingMechanism {
  #odds;

  /**
   * Ask `answers` questions of the `kinds`, each with its share of `epsilon`. Take the integers of
   * `randomizer`, and refuse them if they reveal more than that.
   */
  constructor(shape, epsilon, randomizer, kinds, answers) {
    this.shape = shape;
    // The last step leads nowhere, so that a horizon of 1 has no transitions.
    // Integers for "worth" are there if some users answer for certificates.
    const all = randomizer.worth === undefined ? kinds : [...kinds, "worth"];
    this.kinds = all.filter((kind) => observableOf("kind", kind).steps(shape.horizon) > 0);
    this.answers = answers;
    const each = { top: epsilon.top, bottom: epsilon.bottom * BigInt(answers) };
    this.#odds = exponentialFromBelow(each);
    this.oracles = {};
    for (const kind of this.kinds) {
      const observable = observableOf("kind", kind);
      const items = itemsOf(observable, observable.where(shape.states));
      this.oracles[kind] = readOracle(`randomizer.${kind}`, items, this.#odds, randomizer[kind]);
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

  /** Return what reports hide behind in a crowd: one for each combination of questions. */
  blankets() {
    const each = this.kinds.map((kind) => subsetBlanket(this.oracles[kind]));
    let combined = each.map((blanket, i) => ({ last: i, blanket }));
    for (let more = 1; more < this.answers; more += 1) {
      combined = combined.flatMap(({ last, blanket }) =>
        each.slice(last).map((other, i) => ({
          last: last + i,
          blanket: together([blanket, other]),
        })),
      );
    }
    return combined.map(({ blanket }) => blanket);
  }

  /** Return the items of a report, in increasing order; each question's follow the last one's. */
  privatize(trajectory, { policy, questions }, source) {
    const values = [];
    let start = 0;
    for (const question of questions) {
      const own = this.held(trajectory, policy, question, source);
      for (const item of drawItems(question.oracle, own, source)) values.push(start + item);
      start += question.oracle.items;
    }
    return values;
  }

  /** Return values whose digits take as much room as any report's. */
  longest({ questions }) {
    let end = 0;
    return questions.flatMap(({ oracle: { items, size } }) => {
      end += items;
      return new Array(size).fill(end - 1);
    });
  }

  /** Return, for each question, the items of a report that answer it. */
  answered({ questions }, values) {
    let start = 0;
    return questions.map(({ oracle: { items } }) => {
      const first = start;
      start += items;
      return values.filter((value) => value >= first && value < start).map((value) => value - first);
    });
  }

  /** Return what an item stands for; null is the answer of a user who has nothing to report. */
  meaning({ kind, where, oracle }, item) {
    const observable = observableOf("kind", kind);
    if (observable.hasBottom && item === oracle.items - 1) return null;
    const outcomes = observable.outcomes(where.count);
    const state = Math.floor(item / outcomes);
    const meaning = observable.meaning(item % outcomes, where.count);
    // All states are in one cell: the report names none.
    return where.count === 1 && this.shape.states > 1 ? meaning : { state, ...meaning };
  }

  /** Return the item that the user holds: the observable's `missingItem` if there is no outcome. */
  held({ states, actions, rewards }, policy, question, source) {
    const { kind, step, where, oracle } = question;
    const observable = observableOf("kind", kind);
    const upTo = states.slice(0, observable.lastStep(step, this.shape.horizon) + 1);
    const follows = upTo.every((state, h) => actions[h] === policy[h][state]);
    if (states.length === 0 || !follows) return observable.missingItem(oracle.items, source);
    const outcome = observable.outcome({ states, actions, rewards }, step, where, source, question);
    return where.cell[states[step]] * observable.outcomes(where.count) + outcome;
  }

  #readQuestion(field, question) {
    const { kind, step, where: cells } = record(field, question);
    if (!this.kinds.includes(kind)) {
      throw new InputError(`${field}.kind`, kind, this.kinds.join(" or "));
    }
    const { states, horizon } = this.shape;
    const observable = observableOf(`${field}.kind`, kind);
    const asked = {
      kind,
      step: wholeNumber(`${field}.step`, step, 0, observable.steps(horizon) - 1),
      ...observable.read(field, question, this.shape),
    };
    if (cells === undefined) {
      return { ...asked, where: observable.where(states), oracle: this.oracles[kind] };
    }
    // A partition of its own needs an oracle of its own, which is in the question.
    const where = readPartition(`${field}.where`, cells, states);
    const oracle = readOracle(field, itemsOf(observable, where), this.#odds, question);
    return { ...asked, where, oracle };
  }
}

function itemsOf(observable, { count }) {
  return count * observable.outcomes(count) + (observable.hasBottom ? 1 : 0);
}
