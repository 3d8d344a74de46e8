// One user's episode: { states, actions, rewards }, H of each, or none. Never sent.

import { InputError, wholeNumber } from "./errors.js";
import { exactFraction, lowestTerms, sum } from "./numbers.js";

/** The trajectory of a user who stopped early, did otherwise, or has nothing to report. */
export const NOTHING = Object.freeze({
  states: Object.freeze([]),
  actions: Object.freeze([]),
  rewards: Object.freeze([]),
});

/** Refuse a trajectory that no user of a problem of this shape can have. */
export function checkTrajectory(trajectory, shape) {
  const length = trajectory.states.length;
  for (const field of ["states", "actions", "rewards"]) {
    const entries = trajectory[field].length;
    if (entries !== length || (entries !== 0 && entries !== shape.horizon)) {
      const expected = `${shape.horizon} of them, or none in an empty trajectory`;
      throw new InputError(`trajectory.${field}`, `${entries} entries`, expected);
    }
  }
  for (let step = 0; step < length; step += 1) {
    wholeNumber(`trajectory.states[${step}]`, trajectory.states[step], 0, shape.states - 1);
    wholeNumber(`trajectory.actions[${step}]`, trajectory.actions[step], 0, shape.actions - 1);
    checkReward(`trajectory.rewards[${step}]`, trajectory.rewards[step]);
  }
}

/** Return a reward from 0 to 1, or refuse it. */
export function checkReward(field, reward) {
  if (typeof reward !== "number" || !(reward >= 0 && reward <= 1)) {
    throw new InputError(field, reward, "a number in [0, 1]");
  }
  return reward;
}

/** Round a reward to 0 or 1 at random, so that the mean is kept exactly. */
export function rewardBit(source, reward) {
  return exactCoin(source, exactFraction(reward));
}

/** Return 1 with the probability `share`, a fraction; none is drawn where it is certain. */
export function exactCoin(source, share) {
  const { top, bottom } = lowestTerms(share);
  if (top === 0n || top === bottom) return top === 0n ? 0 : 1;
  return source.below(bottom) < top ? 1 : 0;
}

/** Return the sum of all rewards, exactly. */
export function totalReward({ rewards }) {
  return rewards.map(exactFraction).reduce(sum, { top: 0n, bottom: 1n });
}

/** Where the counters R, N^r and N^p of a report stand: one block after the other. */
export class Layout {
  constructor(shape) {
    const { states, actions, horizon, stepDependent } = shape;
    this.shape = shape;
    this.cells = (stepDependent ? horizon : 1) * states * actions;
    const moveModels = stepDependent ? horizon - 1 : 1;
    this.length = 2 * this.cells + moveModels * states * actions * states;
  }

  /** Return how many steps of an episode can feed the counter at `place`. */
  steps(place) {
    if (this.shape.stepDependent) return 1;
    return place < 2 * this.cells ? this.shape.horizon : this.shape.horizon - 1;
  }

  /** Return the L1 distance of the two trajectories that are easiest to distinguish: 6H − 2. */
  get sensitivity() {
    const { states, actions, horizon } = this.shape;
    // In a single (s, a), nobody differs more from a user than one who stopped.
    const sides = states * actions === 1 ? 1 : 2;
    return sides * (3 * horizon - 1);
  }

  /** Return the counters of a trajectory, each reward rounded on its own. */
  counts(trajectory, source) {
    const { states, actions, horizon, stepDependent } = this.shape;
    const counts = new Array(this.length).fill(0);
    trajectory.states.forEach((state, step) => {
      const model = stepDependent ? step : 0;
      const cell = (model * states + state) * actions + trajectory.actions[step];
      counts[cell] += rewardBit(source, trajectory.rewards[step]);
      counts[this.cells + cell] += 1;
      if (step + 1 < horizon) {
        counts[2 * this.cells + cell * states + trajectory.states[step + 1]] += 1;
      }
    });
    return counts;
  }
}
