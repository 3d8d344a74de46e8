"""Extended value iteration: the best policy of the best model in a box of plausible ones."""

from __future__ import annotations

from typing import NamedTuple

from ldprl.kernels.arrays import Sizes
from ldprl.kernels.compiling import kernel, spliced
from ldprl.shape import FloatArray, IntArray


class PlausibleModel(NamedTuple):
    """Upper bounds of rewards, and a box of transitions, with a row for each leading cell.

    ``order`` has, for each step, the states from the least value of the next step to the largest.
    """

    sizes: Sizes
    reward_high: FloatArray
    low: FloatArray
    high: FloatArray
    order: IntArray

    def ready(self, step: int, after: FloatArray) -> None:
        """Sort the states by value, once for all rows of the step."""
        if step + 1 < self.sizes.horizon:
            sort_states(self.order[step], after)

    def worth(self, cell: int, step: int, after: FloatArray) -> float:
        """Return r⁺(s, a) + max_p Σ p(s')·V(s') over the plausible p."""
        total: float = self.reward_high[cell]
        if step + 1 < self.sizes.horizon:
            total += best_mean(self.low[cell], self.high[cell], self.order[step], after)
        return total


@kernel
def best_mean(low: FloatArray, high: FloatArray, order: IntArray, values: FloatArray) -> float:
    """Return max Σ p·values over {low ≤ p ≤ high, Σp = 1}.

    Start from the lower bounds and hand out what is left, best state first. Should the box not
    meet the simplex (only where the confidence set has failed), the rest goes to the best state.
    """
    total, left = 0.0, 1.0
    for s in range(low.size):
        total += low[s] * values[s]
        left -= low[s]
    i = low.size - 1
    while left > 0 and i >= 0:
        s = order[i]
        share = min(high[s] - low[s], left)
        total += share * values[s]
        left -= share
        i -= 1
    if left > 0:
        total += left * values[order[low.size - 1]]
    return total


@spliced
def sort_states(order: IntArray, values: FloatArray) -> None:
    """Sort the states by value, from the order that they are in."""
    for i in range(1, order.size):
        state = order[i]
        j = i - 1
        while j >= 0 and values[order[j]] > values[state]:
            order[j + 1] = order[j]
            j -= 1
        order[j + 1] = state
