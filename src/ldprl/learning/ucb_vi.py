"""UCB-VI, the non-private baseline (Azar, Osband & Munos 2017)."""

from __future__ import annotations

import math

import numpy as np

from ldprl.assignment import Assignment
from ldprl.errors import InputError, probability
from ldprl.learning.learner import Learner
from ldprl.learning.planning import optimistic_plan
from ldprl.shape import FloatArray, Policy
from ldprl.statistics import Statistics


class UCBVI(Learner):
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

    def __init__(self, *, failure_probability: float = 0.1) -> None:
        self.failure = probability("failure_probability", failure_probability, zero=False)

    def plan(self, statistics: Statistics, rng: np.random.Generator) -> tuple[Assignment, ...]:
        """Return the optimistic policy for all of the next users."""
        return (Assignment(self.optimistic(statistics)[0]),)

    def optimistic(self, statistics: Statistics) -> tuple[Policy, FloatArray]:
        """Return the optimistic policy and values of shape (H + 1, S)."""
        shape = statistics.shape
        visits, departures = statistics.visits, statistics.departures
        known, left = visits > 0, departures > 0
        count, leaving = np.where(known, visits, 1.0), np.where(left, departures, 1.0)
        inverse = 1 / leaving
        reward_width = np.sqrt(self._log_term(statistics) / count)

        def bonus(step: int, values: FloatArray) -> FloatArray:
            model = shape.model_of(step)
            if step + 1 == shape.horizon:
                enough, width = known[model], self._last_width(statistics, count[model])
            else:
                enough = known[model] & left[model]
                width = self._width(statistics, step, leaving[model], values)
            return np.where(enough, width + reward_width[model], np.inf)

        return optimistic_plan(
            shape, statistics.rewards / count, statistics.transitions, inverse, bonus
        )

    def _log_term(self, statistics: Statistics) -> float:
        shape = statistics.shape
        steps = (statistics.users + 1) * shape.horizon
        cells = shape.horizon * shape.states * shape.actions
        return math.log(5 * cells * steps / self.failure)

    def _width(
        self, statistics: Statistics, step: int, count: FloatArray, values: FloatArray
    ) -> FloatArray:
        """Return the transition bonus before the last step, where each cell was left N times."""
        return self._last_width(statistics, count)

    def _last_width(self, statistics: Statistics, count: FloatArray) -> FloatArray:
        """Return the bonus of the last step, where each cell was visited N times: as printed."""
        width = 7 * statistics.shape.horizon * self._log_term(statistics) / np.sqrt(count)
        return np.asarray(width)


class UCBVIBernstein(UCBVI):
    """UCB-VI with the Bernstein bonus (their algorithm 4).

    b = √(8L·Var(V_{h+1})/N) + 14HL/(3N) + √(8/N·Σ_y p̂(y)·min{100²H³S²AL²/N'_{h+1}(y), H²}), where
    N'_{h+1}(y) counts visits to y at step h + 1; nothing follows the last step.
    """

    name = "ucb-vi-bernstein"
    title = "UCB-VI (Bernstein)"
    colour = "#b5b5b5"
    summary = "UCB-VI of Azar et al. (2017) with the Bernstein bonus; not private"

    def _width(
        self, statistics: Statistics, step: int, count: FloatArray, values: FloatArray
    ) -> FloatArray:
        if statistics.arrivals is None:
            raise InputError("arrivals", None, "statistics with the visits of each step")
        shape, log_term = statistics.shape, self._log_term(statistics)
        moves = statistics.transitions[shape.model_of(step)] / count[..., None]
        mean = moves @ values
        variance = np.maximum(moves @ values**2 - mean**2, 0.0)
        error = 1e4 * shape.horizon**3 * shape.states**2 * shape.actions * log_term**2
        arrivals = np.maximum(statistics.arrivals[step + 1], 1.0)
        spread = moves @ np.minimum(error / arrivals, shape.horizon**2)
        width = np.sqrt(8 * log_term * variance / count)
        width += 14 * shape.horizon * log_term / (3 * count) + np.sqrt(8 * spread / count)
        return np.asarray(width)

    def _last_width(self, statistics: Statistics, count: FloatArray) -> FloatArray:
        return np.zeros_like(count)
