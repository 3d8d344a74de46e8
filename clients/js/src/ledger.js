// The user's own book of reports: what was sent, and what it has cost.
//
// A report is paid for before it is drawn, and written down before anybody sees it. A retry sends the
// same bytes under the same id; a fresh draw would cost ε again. Where drawing, sealing or writing
// fails, the report is lost: its entry stays as "drawing", and it is never drawn again, as what failed
// may have depended on what was drawn.

import { Budget, spentOn } from "./budget.js";
import { InputError } from "./errors.js";
import { writeDecimal } from "./numbers.js";

/** Reports kept in `storage`; see storage.js. */
export class Ledger {
  /**
   * `budget`: the ε that all reports together may cost, or { epsilon, days } for what those of any
   * `days` days may; null allows one for each deployment. `clock` says the seconds since 1970.
   */
  constructor(storage, budget = null, clock = () => Date.now() / 1000) {
    if (typeof storage?.read !== "function" || typeof storage?.change !== "function") {
      throw new InputError("storage", typeof storage, "an object with read and change");
    }
    this.storage = storage;
    this.budget = budget === null ? null : new Budget(budget);
    this.clock = clock;
  }

  /** Return all reports, in the order in which they were made. */
  async entries() {
    return this.storage.read();
  }

  /** Return the last report to a deployment, or null. */
  async latest(deployment) {
    return latestOf(await this.entries(), deployment);
  }

  /** Return the ε spent, in all or on one deployment, as a decimal string. */
  async spent(deployment = null) {
    const entries = await this.entries();
    const mine = entries.filter((e) => deployment === null || e.deployment === deployment);
    return writeDecimal(spentOn(mine));
  }

  /** Return how many more reports a deployment could have, before any is made; see budget.js. */
  async left({ digest, epsilon }) {
    const entries = await this.entries();
    if (this.budget !== null) return this.budget.left(entries, epsilon, this.clock());
    const first = latestOf(entries, digest) === null;
    const counted = writeDecimal(spentOn(entries));
    return { reports: first ? 1 : 0, counted, days: first ? 0 : null };
  }

  /** Return the report that a deployment has, unless `again`; or null if a new one is allowed. */
  async before(deployment, { again = false } = {}) {
    return this.alone(async () => this.#before(await this.entries(), deployment, null, again));
  }

  /** Run `work` while nobody else with this ledger makes a report: one half made is not lost. */
  async alone(work) {
    return this.storage.alone === undefined ? work() : this.storage.alone(work);
  }

  /**
   * Pay for the report `id`, and return its entry as "drawing": it is drawn now, or never. A
   * deployment that has a report gets the old one, unless `again`.
   */
  async reserve(deployment, id, { again = false } = {}) {
    return this.storage.change((entries) => {
      const before = this.#before(entries, deployment, id, again);
      if (before !== null) return { entries, result: before };
      const { digest, epsilon } = deployment;
      const entry = { id, deployment: digest, epsilon, status: "drawing" };
      return { entries: [...entries, entry], result: entry };
    });
  }

  /** Write down the report `id`, as the text that is sent. */
  async complete(id, body) {
    return this.storage.change((entries) => {
      const paid = entries.find((entry) => entry.id === id && entry.status === "drawing");
      if (paid === undefined) throw new InputError("id", id, "a report that is being drawn");
      const result = { ...paid, body, status: "pending" };
      return { entries: entries.map((entry) => (entry === paid ? result : entry)), result };
    });
  }

  /** Note what the service said to a report, so that it need not be sent again. */
  async settle(entry, status, cause = null) {
    return this.storage.change((entries) => {
      const said = { status, ...(cause === null ? {} : { cause }) };
      const settled = { ...entry, ...said, settled: this.clock() };
      const others = entries.filter(({ id }) => id !== entry.id);
      if (others.length === entries.length) {
        // The book was lost meanwhile: what was sent is noted nevertheless.
        return { entries: [...entries, settled], result: settled };
      }
      const changed = entries.map((kept) => (kept.id === entry.id ? settled : kept));
      return { entries: changed, result: settled };
    });
  }

  #before(entries, { digest, epsilon }, id, again) {
    const latest = latestOf(entries, digest);
    const same = entries.find((entry) => entry.id === id) ?? (again ? null : latest);
    if (same?.status === "drawing") {
      const expected = `true and a new assignment: report ${same.id} is lost, another costs ε again`;
      throw new InputError("again", again, expected);
    }
    if (same !== null) return same;
    if (this.budget === null) {
      if (latest === null) return null;
      const expected = "a budget, where a deployment is to get a further report";
      throw new InputError("budget", null, expected);
    }
    const counted = this.budget.counted(entries, this.clock());
    if (!this.budget.fits(counted, epsilon)) {
      const spent = writeDecimal(spentOn(counted));
      const left = `no more than is left of ${this.budget.text}: ${spent} is spent`;
      throw new InputError("epsilon", epsilon, left);
    }
    return null;
  }
}

function latestOf(entries, deployment) {
  return entries.findLast((entry) => entry.deployment === deployment) ?? null;
}
