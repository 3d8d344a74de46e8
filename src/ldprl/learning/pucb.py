"""PUCB: joint differential privacy by tree counters (Vietri, Balle, Krishnamurthy & Wu 2020)."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ldprl.errors import probability
from ldprl.learning.learner import OptimisticLearner
from ldprl.learning.tree_counters import TreeCounters
from ldprl.shape import Shape
from ldprl.statistics import Statistics


class PUCB(OptimisticLearner):
    """Optimism as in UBEV, on sums that the *service* makes private: users trust it with the truth.

    With E the error of the tree counters, β' = δ/(4SAH) and Ñ ≥ 2E,

        φ = √(2·ln(K/β')/((Ñ − E) ∨ 1)),   ψ = 3E/Ñ + 2E²/Ñ²,   b = (H + 1)φ + (1 + SH)ψ;

    below 2E nothing is known and the value is the largest possible.

    What we took. The bonus is as published, as far as we know it; β' was open to us, and is far
    more than enough for the union over cells, steps and visits. E is the bound of the noise that
    is really drawn, and half of δ is its share. They give each of 3H counters ε/3H; a user put in
    another's place changes 6H − 2 of them, so that ε is split over that (:class:`TreeCounters`).
    Rewards have their own count; the row sum of Ñ^p, with its larger E, is the count where a
    transition follows, and nothing follows the last step.

    Parameters
    ----------
    shape
        Sizes of the problem.
    epsilon
        ε of joint differential privacy: of all that the other users are sent, together.
    episodes
        K: how many users there will be at most.
    failure_probability
        δ.
    """

    name = "pucb"
    title = "PUCB"
    colour = "#8c6d31"
    summary = "PUCB of Vietri et al. (2020); joint DP: the service sees true data"
    private = False
    usual_mechanism = "none"
    needs_central_trust = True

    def __init__(
        self, shape: Shape, epsilon: float, episodes: int, *, failure_probability: float = 0.1
    ) -> None:
        self.counters = TreeCounters(shape, epsilon, episodes)
        self.failure = probability("failure_probability", failure_probability, zero=False)
        cells = shape.states * shape.actions * shape.horizon
        self.log_term = math.log(4 * cells * self.counters.episodes / self.failure)

    @property
    def joint_epsilon(self) -> float:
        """ε of all releases together."""
        return self.counters.epsilon

    def planner(self, statistics: Statistics, rng: np.random.Generator) -> Any:
        """Return the compiled planner; its noise is a function of the *seed* of ``rng``."""
        from ldprl.kernels.arrays import sums_of
        from ldprl.learning.planners.pucb import ReleasingPlanner

        self.counters.announced(statistics)

        return ReleasingPlanner(
            self._optimist(statistics), self.counters.noise(rng), sums_of(statistics)
        )

    def _optimist(self, statistics: Statistics) -> Any:
        """Return the planner of sums that have been *released*."""
        from ldprl.kernels.arrays import sizes_of
        from ldprl.learning.planners.optimism import rows_for, values_for
        from ldprl.learning.planners.pucb import PUCBPlanner

        shape = statistics.shape
        return PUCBPlanner(
            sizes_of(shape),
            values_for(shape),
            rows_for(shape),
            self.log_term,
            self.counters.error_numbers(self.failure / 2),
        )
