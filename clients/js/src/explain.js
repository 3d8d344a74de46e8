// What a report reveals, in numbers that a page can show.

import { decimal } from "./numbers.js";
import { observableOf } from "./questions/index.js";
import { sizeOf } from "./questions/partition.js";

const WORDS = 1n << 64n;

/**
 * Count the episodes that could have produced a report: one is a state and a reward of 0 or 1 for
 * every step, (2S)^H of them under one policy, or to have stopped or done otherwise. Every one of
 * them could have, and none is more than `factor` ≤ e^ε times as likely as another to have done so.
 * With several questions each has a factor of its own, and together they make up the whole one. Where
 * users see vectors nobody can count episodes: their numbers are null.
 */
export function explain(deployment, assignment, values) {
  const { shape, mechanism, epsilon, randomizer } = deployment;
  const episodes = shape && BigInt(2 * shape.states) ** BigInt(shape.horizon) + 1n;
  const { top, bottom } = decimal("epsilon", epsilon);
  const bound = Math.exp(quotient(top, bottom));
  const common = { mechanism, epsilon, episodes, others: shape && episodes - 1n, factor: bound };
  if (assignment.questions.length === 0) return common;
  const reported = randomizer.answered(assignment, values);
  const questions = assignment.questions.map((question, i) => {
    const { items, size, threshold } = question.oracle;
    return {
      ...question,
      factor: quotient(threshold * BigInt(items - size), (WORDS - threshold) * BigInt(size)),
      possible: items,
      answers: reported[i].map((item) => randomizer.meaning(question, item)),
      likelier:
        shape &&
        reported[i]
          .map((item) => episodesWith(item, question, shape))
          .reduce((total, count) => total + count, 0n),
    };
  });
  const factor = questions.reduce((product, question) => product * question.factor, 1);
  return { ...common, factor, questions };
}

/** Return how many episodes hold this item, or are expected to where chance decides it. */
function episodesWith(item, question, shape) {
  const { kind, step, where, oracle } = question;
  const observable = observableOf("kind", kind);
  if (observable.hasBottom && item === oracle.items - 1) return 1n;
  const outcomes = observable.outcomes(where.count);
  const inCell = BigInt(sizeOf(where, Math.floor(item / outcomes)));
  const { top, bottom } = observable.share(item % outcomes, step, shape, where, question);
  const all = BigInt(2 * shape.states) ** BigInt(shape.horizon);
  return (all * inCell * top) / (BigInt(shape.states) * bottom);
}

/** Return top/bottom as a number, also where either alone exceeds the range of numbers. */
function quotient(top, bottom) {
  const shift = 2n ** 64n;
  const scaled = (top * shift) / bottom;
  return Number(scaled) / Number(shift);
}
