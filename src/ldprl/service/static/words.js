// Formats numbers and causes for people.

const CAUSES = {
  malformed: "not a report at all",
  "too-large": "a body larger than any report",
  "other-deployment": "made for another deployment",
  "unknown-version": "made under a policy that was never published",
  "expired-version": "made under a policy replaced too long ago",
  "wrong-assignment": "answering a question that this id was not asked",
  "wrong-alphabet": "values that the randomizer cannot draw",
};

/** Write a whole number with its thousands apart. */
export function count(number) {
  return Math.round(number).toLocaleString("en-GB");
}

/** Write a whole number that is known to its size only, with one digit. */
export function rough(number) {
  const size = 10 ** Math.floor(Math.log10(Math.max(number, 1)));
  return count(Math.ceil(number / size) * size);
}

/** Write a share as a percentage; small ones are not rounded away. */
export function percent(share) {
  const hundred = 100 * share;
  if (hundred > 0 && hundred < 1) return "< 1%";
  if (hundred > 99 && hundred < 100) return "> 99%";
  return `${Math.round(hundred)}%`;
}

/** Write a number with two digits behind the point. */
export function decimal(number) {
  return number.toFixed(2);
}

/** Write seconds as a person says them. */
export function ago(seconds) {
  if (seconds < 90) return `${Math.round(seconds)} s ago`;
  if (seconds < 5400) return `${Math.round(seconds / 60)} min ago`;
  return `${Math.round(seconds / 3600)} h ago`;
}

/** Describe why a report was refused. */
export function cause(name) {
  return CAUSES[name] ?? "";
}

/** Write e^ε: how many times likelier a report may be under one life than under another. */
export function odds(epsilon) {
  const ratio = Math.exp(Number(epsilon));
  if (ratio >= 1e6) return ratio.toExponential(1);
  return ratio >= 10 ? count(ratio) : ratio.toFixed(1);
}
