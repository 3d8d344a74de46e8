// The user's own book of reports: what was told, and what it has cost.
//
// A report is written down, with its cost, before anybody sees it. A retry sends the same bytes
// under the same id; a fresh draw would cost ε again.

import { InputError } from "./errors.js";
import { atMost, decimal, sum, writeDecimal } from "./numbers.js";

const KEY = "ldprl-ledger";
const LOCK = "ldprl-ledger";
const NONE = { top: 0n, bottom: 1n };

/** Reports kept in `storage`, which has `getItem` and `setItem` as localStorage does. */
export class Ledger {
  /** `budget`: the ε that all reports together may cost; null allows one for each deployment. */
  constructor(storage, budget = null) {
    if (typeof storage?.getItem !== "function" || typeof storage?.setItem !== "function") {
      throw new InputError("storage", typeof storage, "localStorage, or a store of its kind");
    }
    if (budget !== null) decimal("budget", budget);
    this.storage = storage;
    this.budget = budget;
  }

  /** Return all reports, in the order in which they were made. */
  entries() {
    const text = this.storage.getItem(KEY);
    if (text === null) return [];
    try {
      const { format, entries } = JSON.parse(text);
      if (format === 1 && Array.isArray(entries)) return entries;
    } catch {
      // Refused below: to start an empty book would forget what was spent.
    }
    throw new InputError("storage", text, `a ledger under the key ${KEY}`);
  }

  /** Return the last report to a deployment, or null. */
  latest(deployment) {
    return this.entries().findLast((entry) => entry.deployment === deployment) ?? null;
  }

  /** Return the ε spent, in all or on one deployment, as a decimal string. */
  spent(deployment = null) {
    const counted = this.entries().filter(
      (e) => deployment === null || e.deployment === deployment,
    );
    return writeDecimal(counted.map((e) => decimal("epsilon", e.epsilon)).reduce(sum, NONE));
  }

  /** Refuse a new report if it would be a second one, or more than the budget. */
  refuseExcess({ digest, epsilon }) {
    if (this.budget === null && this.latest(digest) !== null) {
      throw new InputError(
        "budget",
        null,
        "a budget, where a deployment is to get a further report",
      );
    }
    const total = sum(decimal("spent", this.spent()), decimal("epsilon", epsilon));
    if (this.budget !== null && !atMost(total, decimal("budget", this.budget))) {
      const left = `no more than is left of ${this.budget}: ${this.spent()} is spent`;
      throw new InputError("epsilon", epsilon, left);
    }
  }

  /**
   * Return the report `id`, made by `make` and written down now. A deployment that has a report
   * gets the old one, unless a further one is wanted.
   */
  async report(deployment, id, make, { again = false } = {}) {
    return exclusively(() => {
      const entries = this.entries();
      const same = entries.find((entry) => entry.id === id);
      const before = same ?? (again ? null : this.latest(deployment.digest));
      if (before !== null) return before;
      this.refuseExcess(deployment);
      const body = JSON.stringify(make());
      const { digest, epsilon } = deployment;
      const entry = { id, deployment: digest, epsilon, body, status: "pending" };
      this.#write([...entries, entry]);
      return entry;
    });
  }

  /** Note what the service said to a report, so that it need not be sent again. */
  async settle(entry, status, cause = null) {
    return exclusively(() => {
      const entries = this.entries();
      const settled = { ...entry, status, ...(cause === null ? {} : { cause }) };
      const place = entries.findIndex(({ id }) => id === entry.id);
      // If the book was lost meanwhile, what was told is told nevertheless.
      entries.splice(place === -1 ? entries.length : place, 1, settled);
      this.#write(entries);
      return settled;
    });
  }

  #write(entries) {
    this.storage.setItem(KEY, JSON.stringify({ format: 1, entries }));
  }
}

/** Do `work` while no other tab does. Wherever a browser has crypto.subtle, it has locks too. */
function exclusively(work) {
  const locks = globalThis.navigator?.locks;
  return locks === undefined ? work() : locks.request(LOCK, work);
}
