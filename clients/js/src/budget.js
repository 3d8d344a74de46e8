// What the reports of a ledger may cost: ever, or in any stretch of days ("at most ε = 4 a year").
//
// With days, a report counts until this number of days after the service's verdict on it. A report
// without a verdict may still be sent, so it counts. Python's ldprl.client.window proves that no
// stretch of that length costs more. Browsers have no clock that outlives a visit and that users
// cannot set: setting the clock forward frees reports early, setting it back does not. A verdict
// that is dated before there was this client, by a clock that began at 1970, counts for ever.

import { InputError } from "./errors.js";
import { atMost, decimal, sum, times, writeDecimal } from "./numbers.js";

const NONE = { top: 0n, bottom: 1n };
const DAY = 86400;
const MOST = 10_000;
/** 2026 began: before that there was no client like this one, so that a clock said it wrongly. */
const EARLIEST = 1_767_225_600;

export class Budget {
  /** `given`: an ε as a decimal string, or { epsilon, days }. */
  constructor(given) {
    const { epsilon, days = null } = typeof given === "object" ? given : { epsilon: given };
    this.text = days === null ? epsilon : `${epsilon} in any ${days} days`;
    this.epsilon = decimal("budget", epsilon);
    if (days !== null && !(typeof days === "number" && days > 0 && days < Infinity)) {
      throw new InputError("budget.days", days, "a number above 0");
    }
    this.days = days;
  }

  /** Return the reports that count at `now`, in seconds since 1970. */
  counted(entries, now) {
    return entries.filter((entry) => this.#daysLeft(entry, now) > 0);
  }

  /** Whether reports at this ε fit beside `entries`, all of which count. */
  fits(entries, epsilon, more = 1) {
    const asked = times(decimal("epsilon", epsilon), more);
    return atMost(sum(spentOn(entries), asked), this.epsilon);
  }

  /**
   * Return how many more `reports` at this ε fit now (10,000 at the most), the ε `counted`, and in
   * how many `days`, if nothing is spent meanwhile, one fits: null if none ever will, or not before
   * a report has its verdict.
   */
  left(entries, epsilon, now) {
    const counted = this.counted(entries, now);
    let [reports, above] = [0, MOST + 1];
    while (above - reports > 1) {
      const middle = Math.floor((reports + above) / 2);
      if (this.fits(counted, epsilon, middle)) reports = middle;
      else above = middle;
    }
    const days = reports > 0 ? 0 : this.#daysUntil(counted, epsilon, now);
    return { reports, counted: writeDecimal(spentOn(counted)), days };
  }

  #daysUntil(counted, epsilon, now) {
    const left = (entry) => this.#daysLeft(entry, now);
    const ends = counted.map(left).filter(Number.isFinite);
    const kept = (end) => counted.filter((entry) => left(entry) > end);
    ends.sort((one, other) => one - other);
    return ends.find((end) => this.fits(kept(end), epsilon)) ?? null;
  }

  #daysLeft({ settled }, now) {
    // Without a verdict, or with one at a time that cannot be, for ever.
    if (this.days === null || !(settled >= EARLIEST)) return Infinity;
    return this.days - Math.max(0, now - settled) / DAY;
  }
}

/** Return what `entries` cost together, as a fraction. */
export function spentOn(entries) {
  return entries.map((entry) => decimal("epsilon", entry.epsilon)).reduce(sum, NONE);
}
