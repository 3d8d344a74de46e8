// One bit of what a policy is worth to those who are given it: 1 with probability R/H.

import { exactCoin, totalReward } from "../trajectory.js";
import { defineObservable } from "./observables.js";
import { whole } from "./partition.js";

defineObservable({
  kind: "worth",
  hasBottom: false,
  where: (states) => whole(states),
  steps: () => 1,
  // Whoever was given the policy counts, followed or not; who stopped early counts as 0.
  lastStep: () => -1,
  missingItem: () => 0,
  outcomes: () => 2,
  outcome: (trajectory, step, where, source) => {
    const { top, bottom } = totalReward(trajectory);
    return exactCoin(source, { top, bottom: bottom * BigInt(trajectory.rewards.length) });
  },
  meaning: (outcome) => ({ above: outcome }),
  share: () => ({ top: 1n, bottom: 2n }),
  words: ({ reward }) => `whether this was true more often than a number drawn at random: “${reward}”`,
});
