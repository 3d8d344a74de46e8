// One bit of what a policy is worth to those who are given it: 1 with probability R/H.

import { exactFraction, lowestTerms, sum } from "../numbers.js";
import { defineMatter } from "./matters.js";
import { whole } from "./partition.js";

defineMatter({
  kind: "worth",
  hasBottom: false,
  where: (states) => whole(states),
  steps: () => 1,
  // Whoever was given the policy counts, followed or not; who stopped early counts as 0.
  lastStep: () => -1,
  untold: () => 0,
  outcomes: () => 2,
  outcome: ({ rewards }, step, where, source) => {
    const total = rewards.map(exactFraction).reduce(sum, { top: 0n, bottom: 1n });
    const share = { top: total.top, bottom: total.bottom * BigInt(rewards.length) };
    const { top, bottom } = lowestTerms(share);
    if (top === 0n || top === bottom) return top === 0n ? 0 : 1;
    return source.below(bottom) < top ? 1 : 0;
  },
  meaning: (outcome) => ({ above: outcome }),
  share: () => ({ top: 1n, bottom: 2n }),
  words: ({ reward }) => `whether you were ${reward} more often than a number drawn at random`,
});
