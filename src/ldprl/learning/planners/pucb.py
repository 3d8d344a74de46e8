"""The planner of PUCB, and the noise of its tree counters."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from ldprl.kernels.arrays import Draft, Sizes, Sums
from ldprl.kernels.compiling import kernel, method, spliced
from ldprl.kernels.draws import exponential
from ldprl.kernels.generator import reseed, uniform
from ldprl.learning.planners.optimism import BONUS, INVERSE, LAST, NOW, Optimist, single_plan
from ldprl.shape import Array, FloatArray

plan_released = method("plan")
"""plan_released(planner, sums, stream, draft): plan from sums that have been released."""


class PUCBPlanner(NamedTuple):
    """PUCB on released sums: ``log_term`` is ln(K/β'), ``errors`` gives the counters' error."""

    sizes: Sizes
    values: FloatArray
    rows: FloatArray
    log_term: float
    errors: FloatArray

    def plan(self, sums: Sums, stream: Array, draft: Draft) -> bool:
        """Write the optimistic policy."""
        sizes, rows = self.sizes, self.rows
        draws = set_bits(sums.users[0])
        error = _tree_error(self.errors, draws, 1.0)
        row_error = _tree_error(self.errors, draws, float(sizes.states))
        for cell in range(sizes.cells):
            count, sampling, noise = _confidence(sums.visits[cell], error, self.log_term)
            now = sums.rewards[cell] / count + sampling + noise
            rows[cell, NOW] = rows[cell, LAST] = now
        for cell in range(sizes.leading):
            departures = 0.0
            for target in range(sizes.states):
                departures += sums.transitions[cell, target]
            count, sampling, noise = _confidence(departures, row_error, self.log_term)
            rows[cell, INVERSE] = 1 / count
            rows[cell, BONUS] = sizes.horizon * (sampling + sizes.states * noise)
        model = Optimist(sizes, 1, 0, rows, sums.transitions)
        return single_plan(model, sizes, self.values, draft, 1.0)


class TreeNoise(NamedTuple):
    """Laplace noise of ``scale`` for each node: a function of the node and of ``key``."""

    key: Array
    scale: float
    stream: Array


class ReleasingPlanner(NamedTuple):
    """Adds the tree's noise to true sums, and plans from what is released."""

    planner: Any
    noise: TreeNoise
    released: Sums

    def plan(self, sums: Sums, stream: Array, draft: Draft) -> bool:
        """Write the optimistic policy, a function of the sums and of the noise's key."""
        released, users = self.released, sums.users[0]
        released.users[0] = users
        for i in range(sums.counters.size):
            released.counters[i] = sums.counters[i]
        _add_tree_noise(self.noise, users, sums.counters.size - sums.squares.size, released)
        changed: bool = plan_released(self.planner, released, stream, draft)
        return changed


@spliced
def _add_tree_noise(noise: TreeNoise, users: int, length: int, released: Sums) -> None:
    """Add the noise of the nodes whose blocks make up the first ``users`` users."""
    start = 0
    for level in range(56, -1, -1):
        if (users >> level) & 1:
            add_node(noise, level, start >> level, length, released.counters)
            start += 1 << level


@kernel
def add_node(noise: TreeNoise, level: int, index: int, length: int, counters: FloatArray) -> None:
    """Add the noise of users ``index``·2^``level`` and the 2^``level`` − 1 after them."""
    # Level and index fit into one number: an index at level l is below 2^(57 − l) here.
    reseed(noise.stream, noise.key, index * 64 + level)
    for i in range(length):
        sign = 1.0 if uniform(noise.stream) < 0.5 else -1.0
        counters[i] += sign * noise.scale * exponential(noise.stream)


@kernel
def set_bits(users: int) -> int:
    """Return how many bits are set, which is how many nodes make up the first ``users``."""
    count = 0
    while users > 0:
        users &= users - 1
        count += 1
    return count


@kernel
def _tree_error(errors: FloatArray, draws: int, terms: float) -> float:
    """Return b·(2√(mnt) + t), the error of a sum of n counters of m draws each, (b, t) given."""
    if draws == 0:
        return 0.0
    error: float = errors[0] * (2 * math.sqrt(draws * terms * errors[1]) + errors[1])
    return error


@kernel
def _confidence(count: float, error: float, log_term: float) -> tuple[float, float, float]:
    """Return the count to divide by, φ and ψ; φ is infinite where nothing is known."""
    if count <= 0 or count < 2 * error:
        return 1.0, np.inf, 0.0
    sampling = math.sqrt(2 * log_term / max(count - error, 1.0))
    ratio = error / count
    return count, sampling, 3 * ratio + 2 * ratio * ratio
