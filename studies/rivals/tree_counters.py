"""Binary-tree counters: running sums under differential privacy, released after any user."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.random import SeedSequence

from ldprl.errors import InputError, instance_of, whole_number
from ldprl.kernels.arrays import Sums
from ldprl.kernels.compiling import kernel, spliced
from ldprl.kernels.draws import exponential
from ldprl.kernels.generator import reseed, uniform
from ldprl.layout import Layout
from ldprl.mechanisms.mechanism import local_epsilon
from ldprl.mechanisms.sensitivity import l1_sensitivity
from ldprl.shape import Array, FloatArray, Shape
from ldprl.statistics import MOST_USERS, Statistics

_STREAM = 0x7EE
"""Keeps the tree's noise apart from other streams spawned from the same seed."""


class TreeCounters:
    """Adds to true sums the noise of the binary mechanism (Chan, Shi & Song 2011).

    The first k users are cut into blocks of 2^l, one for each bit l that is set in k; each block
    is a node of a binary tree and has its own Laplace noise, drawn once and used whenever the
    node is. A user is in one node of each of the ⌊log₂ K⌋ + 1 levels, and another user in their
    place changes the counters of a node by at most Δ₁ = 6H − 2 in L1. Noise of scale
    b = (⌊log₂ K⌋ + 1)·Δ₁/ε therefore makes all releases together ε-DP, and whatever is sent to
    the other users ε-joint-DP.

    Noise is a function of the node and of the generator's *seed*, so that releases need no state
    and can be repeated. The seed must be kept secret and never be used for other data. Noise is
    drawn in floating point, as befits a simulation; a service would need whole numbers.

    Parameters
    ----------
    shape
        Sizes of the problem.
    epsilon
        ε of all releases together.
    episodes
        K: how many users there will be at most.
    """

    def __init__(self, shape: Shape, epsilon: float, episodes: int) -> None:
        self.epsilon = local_epsilon(epsilon)
        self.episodes = whole_number("episodes", episodes, 1, MOST_USERS)
        self.layout = Layout(shape, resolution=None)
        self.levels = self.episodes.bit_length()
        self.scale = self.levels * l1_sensitivity(self.layout) / self.epsilon

    def noise(self, rng: np.random.Generator) -> Any:
        """Return the noise of all nodes for compiled code: a function of the *seed* of ``rng``."""
        rng = instance_of("rng", rng, np.random.Generator, "numpy.random.default_rng(0)")
        seed = rng.bit_generator.seed_seq
        if not isinstance(seed, SeedSequence):
            raise InputError("rng", rng, "a generator with a seed, such as default_rng gives")
        own = SeedSequence(seed.entropy, spawn_key=(*seed.spawn_key, _STREAM))
        return TreeNoise(own.generate_state(4, np.uint64), self.scale, np.zeros(4, dtype=np.uint64))

    def error_numbers(self, failure: float) -> FloatArray:
        """Return (b, t) with t = ln(2·(counters + rows)·K/δ), for compiled code.

        m draws of Laplace noise are sub-gamma: with probability 1 − δ the sum of m draws is below
        2b√(mt) + bt in every counter, and below 2b√(mSt) + bt in every row, at all times together.
        """
        sums = self.layout.length + self.layout.shape.cells
        return np.array([self.scale, math.log(2 * sums * self.episodes / failure)])

    def announced(self, statistics: Statistics) -> int:
        """Return the number of users, or refuse it if it is above the one announced."""
        if statistics.shape != self.layout.shape:
            raise InputError("statistics.shape", statistics.shape, f"{self.layout.shape}")
        if whole_number("users", statistics.users, 0) > self.episodes:
            raise InputError("users", statistics.users, f"at most {self.episodes}, as announced")
        return statistics.users


class TreeNoise(NamedTuple):
    """Laplace noise of ``scale`` for each node: a function of the node and of ``key``."""

    key: Array
    scale: float
    stream: Array


@spliced
def add_tree_noise(noise: TreeNoise, users: int, length: int, released: Sums) -> None:
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
def tree_error(errors: FloatArray, draws: int, terms: float) -> float:
    """Return b·(2√(mnt) + t), the error of a sum of n counters of m draws each, (b, t) given."""
    if draws == 0:
        return 0.0
    error: float = errors[0] * (2 * math.sqrt(draws * terms * errors[1]) + errors[1])
    return error
