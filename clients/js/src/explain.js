// What a report gives away, in numbers that a page can show.

import { decimal } from "./numbers.js";

const WORDS = 1n << 64n;

/**
 * Say how many lives could have produced a report: a life is a state and a reward of 0 or 1 for
 * every step, (2S)^H of them under one policy, or to have stopped or done otherwise. Every one of
 * them could have, and none is more than `factor` ≤ e^ε times as likely as another to have done so.
 * With several questions each has a factor of its own, and together they make up the whole one.
 */
export function explain(deployment, assignment, values) {
  const { shape, mechanism, epsilon, randomizer } = deployment;
  const lives = BigInt(2 * shape.states) ** BigInt(shape.horizon) + 1n;
  const { top, bottom } = decimal("epsilon", epsilon);
  const bound = Math.exp(quotient(top, bottom));
  const common = { mechanism, epsilon, lives, others: lives - 1n, factor: bound };
  if (assignment.questions.length === 0) return common;
  const told = randomizer.answered(assignment, values);
  const questions = assignment.questions.map(({ kind, step }, i) => {
    const { items, size, threshold } = randomizer.oracles[kind];
    const answers = told[i].map((item) => randomizer.meaning(kind, item));
    return {
      kind,
      step,
      factor: quotient(threshold * BigInt(items - size), (WORDS - threshold) * BigInt(size)),
      possible: items,
      answers,
      likelier: answers
        .map((answer) => livesWith(answer, shape, step))
        .reduce((total, count) => total + count, 0n),
    };
  });
  const factor = questions.reduce((product, question) => product * question.factor, 1);
  return { ...common, factor, questions };
}

/** Return how many lives have this answer. */
function livesWith(answer, { states, horizon }, step) {
  if (answer === null) return 1n;
  const last = step + 1 === horizon;
  // At the last step, which leads nowhere, the next state is told as 0.
  if (last && (answer.next ?? 0) !== 0) return 0n;
  const all = BigInt(2 * states) ** BigInt(horizon);
  const rewards = answer.reward === undefined ? 1n : 2n;
  const nexts = answer.next === undefined || last ? 1n : BigInt(states);
  return all / (BigInt(states) * rewards * nexts);
}

/** Return top/bottom as a number, also where either alone exceeds the range of numbers. */
function quotient(top, bottom) {
  const shift = 2n ** 64n;
  const scaled = (top * shift) / bottom;
  return Number(scaled) / Number(shift);
}
