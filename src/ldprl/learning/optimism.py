"""Optimistic planning: the best policy of a model with a bonus, or of a box of plausible models."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ldprl.kernels.arrays import Sizes
from ldprl.kernels.compiling import inlined, kernel, method, spliced
from ldprl.kernels.values import FREE, expected, spliced_backward
from ldprl.learning.compiled import CompiledLearner, read_plan, run_planner
from ldprl.shape import FloatArray, IntArray, Policy, Shape
from ldprl.statistics import Statistics

MEAN, INVERSE, REWARD_WIDTH, MOVE_WIDTH, LAST_WIDTH = range(5)
"""Columns of an optimistic planner's ``rows``, which has a row for each cell."""

bonus = method("bonus")
"""bonus(planner, step, reward_width, move_width): what is added to Q at a step (from 0)."""


class OptimisticLearner(CompiledLearner):
    """A learner whose plan is one policy, found by optimistic value iteration."""

    catalogued = False

    def optimistic(self, statistics: Statistics) -> tuple[Policy, FloatArray]:
        """Return the optimistic policy and values of shape (H + 1, S)."""
        rng = np.random.default_rng(0)
        return optimistic(self.planner(self._checked(statistics), rng), statistics)

    def optimistic_value(self, statistics: Statistics, initial: FloatArray) -> float:
        """Return the optimistic value of the best policy."""
        return float(initial @ self.optimistic(statistics)[1][0])


def optimistic(planner: Any, statistics: Statistics) -> tuple[Policy, FloatArray]:
    """Return the policy and the values that a planner without chance finds."""
    run_planner(planner, statistics, np.random.default_rng(0))
    (assignment,) = read_plan(planner.buffer, statistics.shape, [])
    return assignment.table, planner.values


def rows_for(shape: Shape) -> FloatArray:
    """Return room for the columns of an optimistic planner."""
    return np.zeros((shape.cells, 5))


class Optimist(NamedTuple):
    """A model with a bonus that does not depend on the values (equation 4 of the paper).

    Q_h(s,a) = mean + bonus_h + inverse·Σ counts(s')·V_{h+1}(s'), from the planner's ``rows``.
    p̃ = counts·inverse is kept in its factors: it is cheaper to scale the expectation than the
    model. The bonus is made of two widths, of rewards and of moves, which may be infinite where
    nothing is known; nothing follows the last step, which has a width of its own for moves.
    """

    planner: Any
    counts: FloatArray

    def ready(self, step: int, after: FloatArray) -> None:
        """Do nothing."""

    def worth(self, cell: int, step: int, after: FloatArray) -> float:
        """Return the optimistic Q-value."""
        rows, planner = self.planner.rows, self.planner
        mean, reward_width = rows[cell, MEAN], rows[cell, REWARD_WIDTH]
        if step + 1 == planner.sizes.horizon:
            final: float = mean + bonus(planner, step, reward_width, rows[cell, LAST_WIDTH])
            return final
        total: float = mean + bonus(planner, step, reward_width, rows[cell, MOVE_WIDTH])
        total += rows[cell, INVERSE] * expected(self.counts[cell], after)
        return total


@inlined
def single_plan(model: Any, planner: Any, cap: float) -> bool:
    """Write the best policy of a model as the only assignment; return whether it changed."""
    buffer = planner.buffer
    buffer.used[0], buffer.shares[0] = 1, 1.0
    return spliced_backward(model, planner.sizes, planner.values, buffer.policies[0], FREE, cap)


class PlausibleModel(NamedTuple):
    """Extended value iteration: upper bounds of rewards, and a box of transitions, by cell.

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
