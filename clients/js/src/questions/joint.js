// The cell, a bit of the reward, and the next cell, all at once. The last step leads to state 0.

import { rewardBit } from "../trajectory.js";
import { defineObservable } from "./observables.js";
import { sizeOf } from "./partition.js";

defineObservable({
  kind: "joint",
  outcomes: (cells) => 2 * cells,
  outcome: ({ states, rewards }, step, where, source) => {
    const bit = rewardBit(source, rewards[step]);
    return bit * where.count + where.cell[states[step + 1] ?? 0];
  },
  meaning: (outcome, cells) => ({ reward: Math.floor(outcome / cells), next: outcome % cells }),
  share: (outcome, step, { states, horizon }, where) => {
    const next = outcome % where.count;
    if (step + 1 === horizon) return { top: next === where.cell[0] ? 1n : 0n, bottom: 2n };
    return { top: BigInt(sizeOf(where, next)), bottom: BigInt(2 * states) };
  },
  words: ({ reward }) =>
    `which state you were in, which one it led to, and whether this was true: “${reward}”`,
});
