// The cell and a bit of the reward.

import { rewardBit } from "../trajectory.js";
import { defineObservable } from "./observables.js";

defineObservable({
  kind: "reward",
  outcomes: () => 2,
  outcome: ({ rewards }, step, where, source) => rewardBit(source, rewards[step]),
  meaning: (outcome) => ({ reward: outcome }),
  share: () => ({ top: 1n, bottom: 2n }),
  words: ({ reward }) => `which state you were in, and whether this was true: “${reward}”`,
});
