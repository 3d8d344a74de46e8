"""The planners of UCB-VI, with the Hoeffding and with the Bernstein bonus."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from ldprl.kernels.arrays import PlanBuffer, Sizes, Sums
from ldprl.kernels.compiling import spliced
from ldprl.learning.planners.optimism import BONUS, INVERSE, LAST, NOW, Optimist, single_plan
from ldprl.shape import Array, FloatArray


@spliced
def _estimate(sizes: Sizes, rows: FloatArray, sums: Sums, log_term: float, scale: float) -> None:
    """Write r̂ + √(L/N), p̂ in its factors, and the bonus scale/√N of moves (and the last step)."""
    for cell in range(sizes.cells):
        rows[cell, NOW] = rows[cell, LAST] = np.inf
        if sums.visits[cell] > 0:
            root = math.sqrt(1 / sums.visits[cell])
            rows[cell, NOW] = sums.rewards[cell] / sums.visits[cell] + math.sqrt(log_term) * root
            rows[cell, LAST] = rows[cell, NOW] + scale * root
    for cell in range(sizes.leading):
        departures = 0.0
        for target in range(sizes.states):
            departures += sums.transitions[cell, target]
        rows[cell, INVERSE], rows[cell, BONUS] = 0.0, np.inf
        if departures > 0:
            rows[cell, INVERSE] = 1 / departures
            rows[cell, BONUS] = scale * math.sqrt(rows[cell, INVERSE])


class HoeffdingPlanner(NamedTuple):
    """UCB-VI: ``log_constant`` is ln(5·HSA·H/δ)."""

    sizes: Sizes
    values: FloatArray
    rows: FloatArray
    log_constant: float

    def plan(self, sums: Sums, stream: Array, draft: PlanBuffer) -> bool:
        """Write the optimistic policy."""
        rows, log_term = self.rows, self.log_constant + math.log(sums.users[0] + 1.0)
        _estimate(self.sizes, rows, sums, log_term, 7 * self.sizes.horizon * log_term)
        model = Optimist(self.sizes, 1, 0, rows, sums.transitions)
        return single_plan(model, self.sizes, self.values, draft, 1.0)


class BernsteinModel(NamedTuple):
    """The empirical model with a bonus that depends on the values of the next step."""

    sizes: Sizes
    log_term: float
    rows: FloatArray
    counts: FloatArray
    arrivals: FloatArray

    def ready(self, step: int, after: FloatArray) -> None:
        """Do nothing."""

    def worth(self, cell: int, step: int, after: FloatArray) -> float:
        """Return the optimistic Q-value."""
        states, horizon, log_term = self.sizes.states, self.sizes.horizon, self.log_term
        total: float = self.rows[cell, NOW]
        if step + 1 == horizon:
            return total
        most = float(horizon * horizon)
        unknown = 1e4 * most * horizon * states * states * self.sizes.actions * log_term**2
        mean, square, spread = 0.0, 0.0, 0.0
        for target in range(states):
            count, value = self.counts[cell, target], after[target]
            mean += count * value
            square += count * value * value
            arrived = max(self.arrivals[(step + 1) * states + target], 1.0)
            spread += count * min(unknown / arrived, most)
        inverse = self.rows[cell, INVERSE]
        mean *= inverse
        variance = max(square * inverse - mean * mean, 0.0)
        total += self.rows[cell, BONUS] + mean + 14 * horizon * log_term / 3 * inverse
        total += math.sqrt(8 * log_term * variance * inverse) + math.sqrt(8 * spread) * inverse
        return total


class BernsteinPlanner(NamedTuple):
    """UCB-VI with the Bernstein bonus."""

    sizes: Sizes
    values: FloatArray
    rows: FloatArray
    log_constant: float

    def plan(self, sums: Sums, stream: Array, draft: PlanBuffer) -> bool:
        """Write the optimistic policy."""
        rows, log_term = self.rows, self.log_constant + math.log(sums.users[0] + 1.0)
        _estimate(self.sizes, rows, sums, log_term, 0.0)
        model = BernsteinModel(self.sizes, log_term, rows, sums.transitions, sums.arrivals)
        return single_plan(model, self.sizes, self.values, draft, 1.0)
