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

/** Write an interval with two digits behind the point, rounded outwards. */
export function interval({ low, high }) {
  return `${decimal(Math.floor(100 * low) / 100)} to ${decimal(Math.ceil(100 * high) / 100)}`;
}

/** Write a share as a percentage with one digit behind the point, rounded up: a bound stays one. */
export function percentAtMost(share) {
  const hundred = Math.ceil(1000 * share - 1e-9) / 10;
  return hundred < 100 ? `${hundred}%` : `${(100 * share).toPrecision(6)}%`;
}

/** Write a share as a percentage with one digit behind the point, rounded down. */
export function percentAtLeast(share) {
  return `${Math.floor(1000 * share + 1e-9) / 10}%`;
}

/** Write a number with two digits behind the point, rounded up. */
export function decimalAtMost(number) {
  return decimal(Math.ceil(100 * number - 1e-9) / 100);
}

/** Write numbers with as many digits as their standard error has a meaning for. */
export function toError(error, ...numbers) {
  const places = Math.min(20, Math.max(0, 1 - Math.floor(Math.log10(error || 1))));
  return numbers.map((number) => number.toFixed(places));
}
