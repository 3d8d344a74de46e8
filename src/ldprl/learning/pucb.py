"""PUCB: joint differential privacy by tree counters (Vietri, Balle, Krishnamurthy & Wu 2020)."""

from __future__ import annotations

import math

import numpy as np

from ldprl.assignment import Assignment
from ldprl.errors import probability
from ldprl.learning.learner import Learner
from ldprl.learning.planning import optimistic_plan
from ldprl.learning.tree_counters import TreeCounters
from ldprl.shape import FloatArray, Policy, Shape
from ldprl.statistics import Statistics


class PUCB(Learner):
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

    def plan(self, statistics: Statistics, rng: np.random.Generator) -> tuple[Assignment, ...]:
        """Return the optimistic policy, a function of the sums and of the *seed* of ``rng``."""
        return (Assignment(self.optimistic(self.counters.release(statistics, rng))[0]),)

    def optimistic(self, released: Statistics) -> tuple[Policy, FloatArray]:
        """Return the optimistic policy and values of shape (H + 1, S) from *released* sums."""
        shape = released.shape
        error, row_error = self.counters.errors(released, self.failure / 2)
        count, sampling, noise = self._confidence(released.visits, error)
        reward_width = sampling + noise
        leaving, sampling, noise = self._confidence(released.departures, row_error)
        move_width = shape.horizon * (sampling + shape.states * noise)

        def bonus(step: int, _: FloatArray) -> FloatArray:
            model = shape.model_of(step)
            follows = step + 1 < shape.horizon
            return np.asarray(reward_width[model] + (move_width[model] if follows else 0.0))

        return optimistic_plan(
            shape, released.rewards / count, released.transitions, 1 / leaving, bonus
        )

    def _confidence(
        self, counts: FloatArray, error: float
    ) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return the counts to divide by, φ and ψ; both are infinite where nothing is known."""
        known = (counts > 0) & (counts >= 2 * error)
        count = np.where(known, counts, 1.0)
        sampling = np.sqrt(2 * self.log_term / np.maximum(count - error, 1.0))
        noise = 3 * error / count + 2 * (error / count) ** 2
        return count, np.where(known, sampling, np.inf), np.where(known, noise, 0.0)
