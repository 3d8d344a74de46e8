"""UCB-VI, the non-private baseline (Azar, Osband & Munos 2017)."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from ldprl.errors import InputError, probability
from ldprl.kernels.arrays import PlanBuffer, Sizes, Sums, plan_buffer_for, sizes_of
from ldprl.kernels.compiling import spliced
from ldprl.learning.compiled import values_for
from ldprl.learning.optimism import (
    INVERSE,
    LAST_WIDTH,
    MEAN,
    MOVE_WIDTH,
    REWARD_WIDTH,
    Optimist,
    OptimisticLearner,
    rows_for,
    single_plan,
)
from ldprl.shape import Array, FloatArray
from ldprl.statistics import Statistics


class UCBVI(OptimisticLearner):
    """Optimistic value iteration with the Hoeffding bonus 7HL/√N (their algorithm 3).

    Three departures. Rewards are learnt, with the width √(L/N) added (they take them as known):
    twice Hoeffding's exponent, so that the sum of failures over all times is finite. T in
    L = ln(5HSAT/δ) is the number of steps so far, not a horizon known in advance. And Q_k is not
    held below Q_{k−1}, so that the policy is a function of the sums alone; the Bernstein bonus's
    proof, not the Hoeffding one's, uses that.

    Parameters
    ----------
    failure_probability
        δ.
    """

    name = "ucb-vi"
    title = "UCB-VI"
    colour = "#1b1b1b"
    summary = "UCB-VI of Azar et al. (2017) with the Hoeffding bonus; not private"
    private = False
    usual_mechanism = "none"

    def __init__(self, *, failure_probability: float = 0.1) -> None:
        self.failure = probability("failure_probability", failure_probability, zero=False)

    def planner(self, statistics: Statistics, rng: np.random.Generator) -> Any:
        """Return the compiled planner."""
        return HoeffdingPlanner(*self._parts(statistics))

    def _parts(self, statistics: Statistics) -> tuple[Any, ...]:
        """Return sizes, room, and ln(5HSA·H/δ), to which ln k is added: T = kH."""
        shape = statistics.shape
        cells = shape.states * shape.actions * shape.horizon
        log_constant = math.log(5 * cells * shape.horizon / self.failure)
        buffer = plan_buffer_for(shape, 1)
        return sizes_of(shape), buffer, values_for(shape), rows_for(shape), log_constant


class UCBVIBernstein(UCBVI):
    """UCB-VI with the Bernstein bonus (their algorithm 4).

    b = √(8L·Var(V_{h+1})/N) + 14HL/(3N) + √(8/N·Σ_y p̂(y)·min{100²H³S²AL²/N'_{h+1}(y), H²}), where
    N'_{h+1}(y) counts visits to y at step h + 1; nothing follows the last step.
    """

    name = "ucb-vi-bernstein"
    title = "UCB-VI (Bernstein)"
    colour = "#8f8f8f"
    summary = "UCB-VI of Azar et al. (2017) with the Bernstein bonus; not private"

    def planner(self, statistics: Statistics, rng: np.random.Generator) -> Any:
        """Return the compiled planner."""
        if statistics.arrivals is None:
            raise InputError("arrivals", None, "statistics with the visits of each step")
        return BernsteinPlanner(*self._parts(statistics))


class HoeffdingPlanner(NamedTuple):
    """UCB-VI: ``log_constant`` is ln(5·HSA·H/δ)."""

    sizes: Sizes
    buffer: PlanBuffer
    values: FloatArray
    rows: FloatArray
    log_constant: float

    def bonus(self, step: int, reward_width: float, move_width: float) -> float:
        """Return √(L/N) + 7HL/√N."""
        return reward_width + move_width

    def plan(self, sums: Sums, stream: Array) -> bool:
        """Write the optimistic policy."""
        log_term = self.log_constant + math.log(sums.users[0] + 1.0)
        _estimate(self.sizes, self.rows, sums, log_term, 7 * self.sizes.horizon * log_term)
        return single_plan(Optimist(self, sums.transitions), self, 1.0)


@spliced
def _estimate(sizes: Sizes, rows: FloatArray, sums: Sums, log_term: float, scale: float) -> None:
    """Write r̂ and √(L/N), p̂ in its factors, and scale/√N for moves (and for the last step)."""
    for cell in range(sizes.cells):
        count = sums.visits[cell]
        root = math.sqrt(1 / count)
        rows[cell, MEAN] = sums.rewards[cell] / count if count > 0 else 0.0
        rows[cell, REWARD_WIDTH] = math.sqrt(log_term) * root if count > 0 else np.inf
        rows[cell, LAST_WIDTH] = scale * root if count > 0 else np.inf
    for cell in range(sizes.leading):
        departures = 0.0
        for target in range(sizes.states):
            departures += sums.transitions[cell, target]
        inverse = 1 / departures
        rows[cell, INVERSE] = inverse if departures > 0 else 0.0
        rows[cell, MOVE_WIDTH] = scale * math.sqrt(inverse) if departures > 0 else np.inf


class BernsteinPlanner(NamedTuple):
    """UCB-VI with the Bernstein bonus."""

    sizes: Sizes
    buffer: PlanBuffer
    values: FloatArray
    rows: FloatArray
    log_constant: float

    def plan(self, sums: Sums, stream: Array) -> bool:
        """Write the optimistic policy."""
        log_term = self.log_constant + math.log(sums.users[0] + 1.0)
        _estimate(self.sizes, self.rows, sums, log_term, 0.0)
        model = BernsteinModel(self.sizes, log_term, self.rows, sums.transitions, sums.arrivals)
        return single_plan(model, self, 1.0)


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
        total: float = self.rows[cell, MEAN] + self.rows[cell, REWARD_WIDTH]
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
        total += self.rows[cell, MOVE_WIDTH] + mean + 14 * horizon * log_term / 3 * inverse
        total += math.sqrt(8 * log_term * variance * inverse) + math.sqrt(8 * spread) * inverse
        return total
