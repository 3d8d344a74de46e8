// One user's way through an episode, kept so that a later visit can continue it.

import { InputError } from "./errors.js";

/**
 * From `Client.begin`: ask for an `action`, `record` what came of it, until the episode is `done`; then
 * `report`. Each call is on disk when it resolves. A call that a closed page interrupted is made once
 * more, on what `begin` returns then; that changes nothing if it had been completed.
 */
export class Episode {
  #record;
  #deliver;
  #ledger;
  #turn = Promise.resolve();

  /** `assignment`: what was received, or null where the report is made already. */
  constructor(entry, assignment, { problem, ledger, deliver }) {
    this.entry = entry;
    this.assignment = assignment;
    this.#ledger = ledger;
    this.#deliver = deliver;
    this.#record = problem.record(entry.episode?.record);
  }

  /** How many steps are on record. */
  get step() {
    return this.#record.step;
  }

  /** The state that the user is in, as far as it is known: null where users see vectors. */
  get state() {
    return this.#record.state;
  }

  /** Whether only the report remains. */
  get done() {
    return this.assignment === null || this.#record.ended;
  }

  /**
   * Return what the policy advises for an `observation`: the number of a state, by default the one
   * recorded as next, or a vector, which is not kept.
   */
  action(observation) {
    return this.#inTurn(async () => {
      if (this.done) throw new InputError("step", this.step, "a step of the episode, which is done");
      await this.#keep(this.#record.acted(this.assignment.policy, observation));
      return this.#record.lastAction;
    });
  }

  /**
   * Record the reward of the last action, and with tables the number of the `next` state. An episode
   * on vectors may end before its last step, `terminated`; who leaves reports without it.
   */
  record(reward, { next, terminated } = {}) {
    return this.#inTurn(async () => {
      if (this.assignment === null) {
        throw new InputError("step", this.step, "a step of the episode, which is reported");
      }
      await this.#keep(this.#record.rewarded(reward, { next, terminated }));
    });
  }

  /**
   * Randomize what is on record, write the report down, and send it unless it is to wait: for `resume`
   * where `send` is false, and until the time that was fixed when the episode began. Who has left
   * before the end reports all the same. Returns the ledger's entry.
   */
  report({ send = true } = {}) {
    return this.#inTurn(async () => {
      const data = this.#record.data();
      this.entry = await this.#deliver(this, data, send);
      this.assignment = null;
      return this.entry;
    });
  }

  /** Return what the report is made from; it is never sent. */
  data() {
    return this.#record.data();
  }

  async #keep(record) {
    if (record === this.#record) return;
    const { episode } = this.entry;
    const kept = { ...episode, calls: episode.calls + 1, record: record.kept };
    this.entry = await this.#ledger.note(this.entry.id, kept);
    this.#record = record;
  }

  /** Calls take turns: one does not find what another has half done. */
  #inTurn(work) {
    const done = this.#turn.then(work);
    this.#turn = done.catch(() => {});
    return done;
  }
}

/** Play an episode by an app's callbacks, until it is done or the user stops. */
export async function play(episode, start, step) {
  if (episode.done) return;
  let seen = typeof start === "function" ? await start() : start;
  while (!episode.done) {
    const here = episode.state ?? seen;
    const action = await episode.action(here);
    const outcome = await step(here, action, episode.step);
    if (outcome === null || outcome === undefined) return;
    const { reward, next, terminated } = outcome;
    await episode.record(reward, { next: episode.state === null ? undefined : next, terminated });
    seen = next;
  }
}
