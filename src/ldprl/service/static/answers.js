// Describes a report: the question, the possible answers and the reported ones.

import { observableOf } from "./src/questions/index.js";
import { count, percentAtMost } from "./words.js";

const WORDS = 2 ** 64;

/** Write the question that a user was asked. */
export function questionInWords({ kind, step }, labels) {
  const what = observableOf("kind", kind).words(labels);
  return `The service asks one question, drawn before you began: in month ${step + 1}, ${what}?`;
}

/** Write one answer; null is the answer of a user who has nothing to report. */
export function answerInWords(answer, { states, reward }) {
  if (answer === null) return "nothing to report";
  const words = [states[answer.state]];
  if (answer.reward !== undefined) words.push(answer.reward === 1 ? reward : `not ${reward}`);
  const next = answer.next === undefined ? "" : ` → ${states[answer.next]}`;
  return words.join(", ") + next;
}

/** Write what the reported set says, and what it does not. */
export function setInWords({ items, size, threshold }, isEmpty) {
  const which =
    size === 1
      ? "this answer, which may or may not be mine"
      : `one of these ${size} answers, mine may or may not be among them`;
  const empty = isEmpty
    ? " You left the advice before the question's turn, so your answer is “nothing to report”; that is hidden just as well."
    : "";
  const kept = Math.round((100 * Number(threshold)) / WORDS);
  return (
    `It says “${which}”, out of ${items} possible answers. The true one is reported in ${kept}% of ` +
    `all cases; your browser rolled the dice, and nobody else knows how they fell.${empty}`
  );
}

/** Describe how little the report reveals, from the counts of the client's `explain`. */
export function oddsInWords({ factor, likelier, episodes }) {
  const sure = sureInWords(factor);
  if (likelier === undefined) return sure;
  const some = likelier === 1n ? "One of them has" : `${count(Number(likelier))} of them have`;
  const others = `${count(Number(episodes - likelier))} do not`;
  return `${some} a reported answer, ${others}: none is ever ruled out. ${sure}`;
}

/** Say how sure a report can make anybody, given how many times likelier it can be after one episode. */
export function sureInWords(factor) {
  return (
    "Whoever took two episodes to be equally likely is, after this report, at most " +
    `${percentAtMost(factor / (1 + factor))} sure which of them it was.`
  );
}
