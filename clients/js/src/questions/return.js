// One bit of the whole return: whether it is above a threshold drawn from [low, high].

import { InputError, wholeNumber } from "../errors.js";
import { exactCoin, totalReward } from "../trajectory.js";
import { defineObservable } from "./observables.js";
import { whole } from "./partition.js";

// Bounds of a return are whole multiples of 1/UNIT.
const UNIT = 2 ** 16;

defineObservable({
  kind: "return",
  hasBottom: false,
  where: (states) => whole(states),
  steps: () => 1,
  lastStep: (step, horizon) => horizon - 1,
  read: (field, { low, high }, { horizon }) => {
    wholeNumber(`${field}.low`, low, 0, horizon * UNIT - 1);
    wholeNumber(`${field}.high`, high, 1, horizon * UNIT);
    if (low >= high) throw new InputError(`${field}.high`, high, `a whole number above ${low}`);
    return { low, high };
  },
  outcomes: () => 2,
  outcome: (trajectory, step, where, source, asked) =>
    exactCoin(source, above(totalReward(trajectory), asked)),
  meaning: (outcome) => ({ above: outcome }),
  share: (outcome, step, { horizon }, where, asked) => {
    // Episodes with k rewards: C(H, k) of the 2^H ways to have rewards or none.
    let [ways, top] = [1n, 0n];
    for (let k = 0; k <= horizon; k += 1) {
      top += ways * above({ top: BigInt(k), bottom: 1n }, asked).top;
      ways = (ways * BigInt(horizon - k)) / BigInt(k + 1);
    }
    const bottom = 2n ** BigInt(horizon) * BigInt(asked.high - asked.low);
    return { top: outcome === 1 ? top : bottom - top, bottom };
  },
  words: ({ reward }) => `whether this was true more often than a number drawn at random: “${reward}”`,
});

/** Return P(bit = 1) = (R − low)/(high − low), cut to [0, 1], for the return R. */
function above(total, { low, high }) {
  const bottom = total.bottom * BigInt(high - low);
  const top = total.top * BigInt(UNIT) - BigInt(low) * total.bottom;
  if (top <= 0n) return { top: 0n, bottom };
  return { top: top < bottom ? top : bottom, bottom };
}
