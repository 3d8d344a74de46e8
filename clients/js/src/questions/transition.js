// The cell and the next one. The last step leads nowhere, and is not asked about.

import { defineObservable } from "./observables.js";
import { sizeOf } from "./partition.js";

defineObservable({
  kind: "transition",
  steps: (horizon) => horizon - 1,
  outcomes: (cells) => cells,
  outcome: ({ states }, step, where) => where.cell[states[step + 1]],
  meaning: (outcome) => ({ next: outcome }),
  share: (outcome, step, { states }, where) => ({
    top: BigInt(sizeOf(where, outcome)),
    bottom: BigInt(states),
  }),
  words: () => "which state you were in, and which one it led to",
});
