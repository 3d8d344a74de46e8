// The user's own book of reports: what was sent, and what it has cost.
//
// A report is paid for when its episode begins, and its entry keeps the episode so far ("begun"). It is
// written down before anybody sees it. A retry sends the same bytes under the same id; a fresh draw
// would cost ε again. Where drawing, sealing or writing fails, the report is lost: its entry stays as
// "drawing", and it is never drawn again, as what failed may have depended on what was drawn.

import { Budget, spentOn } from "./budget.js";
import { InputError, OvertakenError } from "./errors.js";
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

  /** Return the entry that a deployment has, unless `again`; or null if a new one is allowed. */
  async before(deployment, { again = false } = {}) {
    return this.alone(async () => this.#before(await this.entries(), deployment, again));
  }

  /** Run `work` while nobody else with this ledger makes a report: one half made is not lost. */
  async alone(work) {
    return this.storage.alone === undefined ? work() : this.storage.alone(work);
  }

  /**
   * Pay for the report `id` of an episode that begins, and return its entry. A deployment that has a
   * report gets the old one, unless `again`; an unfinished episode is always continued.
   */
  async begin(deployment, id, episode, { again = false } = {}) {
    return this.storage.change((entries) => {
      const before = this.#before(entries, deployment, again);
      if (before !== null) return { entries, result: before };
      const { digest, epsilon } = deployment;
      const result = { id, deployment: digest, epsilon, status: "begun", episode };
      return { entries: [...entries, result], result };
    });
  }

  /** Keep an episode as it is after a call, unless another tab has gone on with it meanwhile. */
  async note(id, episode) {
    return this.#replace(id, "begun", (entry) => {
      if (entry.episode.calls + 1 !== episode.calls) {
        const expected = `${entry.episode.calls + 1}: another tab has gone on with it, begin() again`;
        throw new OvertakenError("episode.calls", episode.calls, expected);
      }
      return { ...entry, episode };
    });
  }

  /**
   * Note that the report `id` is drawn now, or never, and forget what happened. A report that another
   * tab has made is returned as it is; one that is lost is refused.
   */
  async draw(id) {
    return this.storage.change((entries) => {
      const kept = entries.find((entry) => entry.id === id);
      if (kept?.status === "drawing") throw lost(kept, false);
      if (kept === undefined) throw new InputError("id", id, "a report that is paid for");
      if (kept.status !== "begun") return { entries, result: kept };
      const { episode, ...entry } = kept;
      const due = episode.due === null ? {} : { due: episode.due };
      const result = { ...entry, ...due, status: "drawing" };
      return { entries: entries.map((one) => (one === kept ? result : one)), result };
    });
  }

  /** Write down the report `id`, as the text that is sent. */
  async complete(id, body) {
    return this.#replace(id, "drawing", (entry) => ({ ...entry, body, status: "pending" }));
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

  async #replace(id, status, change) {
    return this.storage.change((entries) => {
      const kept = entries.find((entry) => entry.id === id && entry.status === status);
      if (kept === undefined) throw new OvertakenError("id", id, `a report that is ${status}`);
      const result = change(kept);
      return { entries: entries.map((entry) => (entry === kept ? result : entry)), result };
    });
  }

  #before(entries, { digest, epsilon }, again) {
    const latest = latestOf(entries, digest);
    if (latest?.status === "begun") return latest;
    const same = again ? null : latest;
    if (same?.status === "drawing") throw lost(same, again);
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

function lost({ id }, again) {
  const expected = `true and a new episode: report ${id} is lost, another costs ε again`;
  return new InputError("again", again, expected);
}
