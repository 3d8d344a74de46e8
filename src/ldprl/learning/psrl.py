"""PSRL, posterior sampling without privacy (Osband et al. 2013; appendix G of the paper)."""

from __future__ import annotations

import numpy as np

from ldprl.assignment import Assignment
from ldprl.errors import InputError, one_of
from ldprl.learning.learner import Learner
from ldprl.learning.posterior import Posterior
from ldprl.mechanisms.mechanism import Constants
from ldprl.statistics import Statistics


class PSRL(Learner):
    """Draws a model from the posterior and plays its optimal policy.

    The prior, which the paper leaves open: μ₀ = 0, λ₀ = ν₀ = β₀ = 1 and α₀ = 1.

    Parameters
    ----------
    constants
        ``"sound"``: β = β₀ + ½N·Var + …, the Normal-Gamma update. ``"paper"``: ½Var as printed.
    """

    name = "psrl"
    title = "PSRL"
    colour = "#7a7a7a"
    summary = "posterior sampling of Osband et al. (2013); not private"
    private = False

    def __init__(self, *, constants: Constants = "sound") -> None:
        one_of("constants", constants, ("sound", "paper"))
        self.constants = constants

    def plan(self, statistics: Statistics, rng: np.random.Generator) -> tuple[Assignment, ...]:
        """Return the policy of one draw for all of the next users."""
        policy = self.posterior(statistics).draw_policy(statistics.shape, rng)
        return (Assignment(policy),)

    def posterior(self, statistics: Statistics) -> Posterior:
        """Return the posterior given the true sums."""
        squares = statistics.squares
        if squares is None:
            raise InputError("squares", None, "statistics with sums of squared rewards")
        count, total = statistics.visits, statistics.rewards
        average = total / np.maximum(count, 1)
        deviation = np.maximum(squares - total * average, 0.0)
        if self.constants == "paper":
            deviation = deviation / np.maximum(count, 1)
        return Posterior(
            mean=total / (1 + count),
            precision_scale=1 + count,
            shape=1 + count / 2,
            rate=1 + deviation / 2 + count * average**2 / (2 * (1 + count)),
            dirichlet=1 + statistics.transitions,
        )
