"""PUCB: joint differential privacy by tree counters (Vietri, Balle, Krishnamurthy & Wu 2020)."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from ldprl.errors import probability
from ldprl.kernels.arrays import PlanBuffer, Sizes, Sums, model_sums_of, plan_buffer_for, sizes_of
from ldprl.kernels.compiling import kernel, method
from ldprl.learning.compiled import values_for
from ldprl.learning.optimism import (
    INVERSE,
    MEAN,
    MOVE_WIDTH,
    REWARD_WIDTH,
    Optimist,
    OptimisticLearner,
    optimistic,
    rows_for,
    single_plan,
)
from ldprl.shape import Array, FloatArray, Policy, Shape
from ldprl.statistics import Statistics
from studies.rivals.tree_counters import (
    TreeCounters,
    TreeNoise,
    add_tree_noise,
    set_bits,
    tree_error,
)

plan_released = method("plan")
"""plan_released(planner, sums, stream): plan from sums that have been released."""


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
        self.counters.announced(statistics)
        planner = self._planner_of_released(statistics.shape)
        noise = self.counters.noise(rng)
        return ReleasingPlanner(planner, planner.buffer, noise, model_sums_of(statistics))

    def optimistic(self, statistics: Statistics) -> tuple[Policy, FloatArray]:
        """Return policy and values for sums that have been *released*."""
        return optimistic(self._planner_of_released(statistics.shape), statistics)

    def _planner_of_released(self, shape: Shape) -> PUCBPlanner:
        return PUCBPlanner(
            sizes_of(shape),
            plan_buffer_for(shape, 1),
            values_for(shape),
            rows_for(shape),
            self.log_term,
            self.counters.error_numbers(self.failure / 2),
        )


class PUCBPlanner(NamedTuple):
    """PUCB on released sums: ``log_term`` is ln(K/β'), ``errors`` gives the counters' error."""

    sizes: Sizes
    buffer: PlanBuffer
    values: FloatArray
    rows: FloatArray
    log_term: float
    errors: FloatArray

    def bonus(self, step: int, reward_width: float, move_width: float) -> float:
        """Return b."""
        return reward_width + move_width

    def plan(self, sums: Sums, stream: Array) -> bool:
        """Write the optimistic policy."""
        sizes, rows = self.sizes, self.rows
        draws = set_bits(sums.users[0])
        error = tree_error(self.errors, draws, 1.0)
        row_error = tree_error(self.errors, draws, float(sizes.states))
        for cell in range(sizes.cells):
            count, sampling, noise = _confidence(sums.visits[cell], error, self.log_term)
            rows[cell, MEAN] = sums.rewards[cell] / count
            rows[cell, REWARD_WIDTH] = sampling + noise
        for cell in range(sizes.leading):
            departures = 0.0
            for target in range(sizes.states):
                departures += sums.transitions[cell, target]
            count, sampling, noise = _confidence(departures, row_error, self.log_term)
            rows[cell, INVERSE] = 1 / count
            rows[cell, MOVE_WIDTH] = sizes.horizon * (sampling + sizes.states * noise)
        return single_plan(Optimist(self, sums.transitions), self, 1.0)


class ReleasingPlanner(NamedTuple):
    """Adds the tree's noise to true sums, and plans from what is released."""

    planner: Any
    buffer: PlanBuffer
    noise: TreeNoise
    released: Sums

    def plan(self, sums: Sums, stream: Array) -> bool:
        """Write the optimistic policy, a function of the sums and of the noise's key."""
        released, users = self.released, sums.users[0]
        released.users[0] = users
        for i in range(sums.counters.size):
            released.counters[i] = sums.counters[i]
        add_tree_noise(self.noise, users, sums.counters.size - sums.squares.size, released)
        changed: bool = plan_released(self.planner, released, stream)
        return changed


@kernel
def _confidence(count: float, error: float, log_term: float) -> tuple[float, float, float]:
    """Return the count to divide by, φ and ψ; φ is infinite where nothing is known."""
    if count <= 0 or count < 2 * error:
        return 1.0, np.inf, 0.0
    sampling = math.sqrt(2 * log_term / max(count - error, 1.0))
    ratio = error / count
    return count, sampling, 3 * ratio + 2 * ratio * ratio
