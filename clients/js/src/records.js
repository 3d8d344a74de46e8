// An episode so far, as a page keeps it between visits: what its report will be made from, no more.
//
// A record does not change: `acted` and `rewarded` return the next one. Who makes a call once more that
// an earlier visit had completed gets the same record back.

import { InputError } from "./errors.js";
import { NOTHING, checkReward } from "./trajectory.js";

/** Where policies are tables: states, actions and rewards, any of which may be asked about. */
export class TrajectoryRecord {
  constructor(problem, kept = { states: [], actions: [], rewards: [], next: null }) {
    this.problem = problem;
    this.kept = kept;
  }

  get step() {
    return this.kept.rewards.length;
  }

  get asked() {
    return this.kept.states.length > this.step;
  }

  get ended() {
    return this.step === this.problem.horizon;
  }

  /** The state that the user is in, as far as it is known. */
  get state() {
    return this.asked ? this.kept.states.at(-1) : this.kept.next;
  }

  get lastAction() {
    return this.kept.actions.at(-1);
  }

  acted(policy, given) {
    const { kept, step, state: known, asked } = this;
    const state = given ?? known;
    const action = this.problem.act(policy, state, step);
    if (known !== null && state !== known) {
      throw new InputError("state", given, `${known}, which is on record for this step`);
    }
    if (asked) return this;
    return this.#with({ states: [...kept.states, state], actions: [...kept.actions, action] });
  }

  rewarded(given, { next = null, terminated = false } = {}) {
    if (terminated !== false) {
      const expected = `false: where states are finitely many, episodes have ${this.problem.horizon} steps`;
      throw new InputError("terminated", terminated, expected);
    }
    const reward = checkReward("reward", given);
    const last = this.step + Number(this.asked) === this.problem.horizon;
    if (next !== null && !last) this.problem.checkState("next", next);
    const following = last ? null : next;
    const { rewards } = this.kept;
    if (this.asked) return this.#with({ rewards: [...rewards, reward], next: following });
    return again(this, reward === rewards.at(-1) && following === this.kept.next, given);
  }

  /** Return what the report is made from: nothing, unless the episode is complete. */
  data() {
    const { states, actions, rewards } = this.kept;
    return this.ended ? { states, actions, rewards } : NOTHING;
  }

  #with(change) {
    return new TrajectoryRecord(this.problem, { ...this.kept, ...change });
  }
}

const BEGINNING = { step: 0, action: null, reward: null, total: 0, terminated: false };

/** Where users see vectors: the return so far and the last action. What was seen is never kept. */
export class ReturnRecord {
  /** Nothing is known of what the user sees. */
  state = null;

  constructor(problem, kept = BEGINNING) {
    this.problem = problem;
    this.kept = kept;
  }

  get step() {
    return this.kept.step;
  }

  get asked() {
    return this.kept.action !== null;
  }

  get ended() {
    return this.kept.terminated || this.step === this.problem.horizon;
  }

  get lastAction() {
    return this.kept.action;
  }

  acted(policy, observation) {
    const action = this.problem.act(policy, observation);
    // Who asks once more, after a crash, is told the same, whatever is seen meanwhile.
    return this.asked ? this : this.#with({ action });
  }

  rewarded(reward, { terminated = false } = {}) {
    if (typeof reward !== "number" || !Number.isFinite(reward)) {
      throw new InputError("reward", reward, "a finite number");
    }
    if (typeof terminated !== "boolean") {
      throw new InputError("terminated", terminated, "true or false");
    }
    const { kept, step } = this;
    if (!this.asked) {
      return again(this, kept.reward === reward && kept.terminated === terminated, reward);
    }
    // An infinite sum would turn into NaN.
    const total = Math.max(-Number.MAX_VALUE, Math.min(kept.total + reward, Number.MAX_VALUE));
    return this.#with({ step: step + 1, action: null, reward, total, terminated });
  }

  /** Return what the report is made from: the return, or null of a user who left. */
  data() {
    return this.ended ? this.kept.total : null;
  }

  #with(change) {
    return new ReturnRecord(this.problem, { ...this.kept, ...change });
  }
}

/** Return the record unchanged if the call repeats what is on record, or refuse it. */
function again(record, isSame, reward) {
  if (record.step === 0) {
    throw new InputError("step", 0, "an action, asked for before its reward is recorded");
  }
  if (!isSame) throw new InputError("reward", reward, "the one that is on record for this step");
  return record;
}
