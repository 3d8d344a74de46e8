"""UCB-VI, the non-private baseline (Azar, Osband & Munos 2017)."""

from __future__ import annotations

import math
from typing import Any

from ldprl.errors import InputError, probability
from ldprl.learning.learner import OptimisticLearner
from ldprl.shape import Shape
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

    def _optimist(self, statistics: Statistics) -> Any:
        from ldprl.learning.planners.ucb_vi import HoeffdingPlanner

        return HoeffdingPlanner(*self._parts(statistics.shape))

    def _parts(self, shape: Shape) -> tuple[Any, ...]:
        """Return sizes, room and ln(5HSA·H/δ), to which ln k is added: T = kH."""
        from ldprl.kernels.arrays import sizes_of
        from ldprl.learning.planners.optimism import rows_for, values_for

        cells = shape.states * shape.actions * shape.horizon
        log_constant = math.log(5 * cells * shape.horizon / self.failure)
        return sizes_of(shape), values_for(shape), rows_for(shape), log_constant


class UCBVIBernstein(UCBVI):
    """UCB-VI with the Bernstein bonus (their algorithm 4).

    b = √(8L·Var(V_{h+1})/N) + 14HL/(3N) + √(8/N·Σ_y p̂(y)·min{100²H³S²AL²/N'_{h+1}(y), H²}), where
    N'_{h+1}(y) counts visits to y at step h + 1; nothing follows the last step.
    """

    name = "ucb-vi-bernstein"
    title = "UCB-VI (Bernstein)"
    colour = "#8f8f8f"
    summary = "UCB-VI of Azar et al. (2017) with the Bernstein bonus; not private"

    def _optimist(self, statistics: Statistics) -> Any:
        from ldprl.learning.planners.ucb_vi import BernsteinPlanner

        if statistics.arrivals is None:
            raise InputError("arrivals", None, "statistics with the visits of each step")
        return BernsteinPlanner(*self._parts(statistics.shape))
