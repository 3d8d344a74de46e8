"""One user's report, from draws that were made in a block.

Twins: ``privatize_counts`` of the mechanisms in :mod:`ldprl.mechanisms`.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ldprl.shape import Array, FloatArray
from ldprl.simulation.kernels.dispatch import by_type
from ldprl.simulation.kernels.generator import fill_laplace, fill_normal, fill_uniform
from ldprl.simulation.kernels.noise import (
    BitNoise,
    DiscreteLaplaceNoise,
    Exact,
    GaussianNoise,
    LaplaceNoise,
    TableNoise,
)
from ldprl.simulation.kernels.options import inlined

ONE = np.uint64(1)
"""Places are unsigned, as numba turns negative ones around, which keeps loops from vectorising."""


def _exact_refill(noise: Exact, words: Array, pool: FloatArray) -> None:
    pass


def _laplace_refill(noise: Any, words: Array, pool: FloatArray) -> None:
    fill_laplace(words, pool)


def _normal_refill(noise: Any, words: Array, pool: FloatArray) -> None:
    fill_normal(words, pool)


def _uniform_refill(noise: Any, words: Array, pool: FloatArray) -> None:
    fill_uniform(words, pool)


def _exact_one(
    noise: Exact, i: int, count: float, pool: FloatArray, at: np.uint64
) -> tuple[float, np.uint64]:
    return count, at


def _laplace_one(
    noise: LaplaceNoise, i: int, count: float, pool: FloatArray, at: np.uint64
) -> tuple[float, np.uint64]:
    return count + noise.scale[i] * pool[at], at + ONE


def _discrete_laplace_one(
    noise: DiscreteLaplaceNoise, i: int, count: float, pool: FloatArray, at: np.uint64
) -> tuple[float, np.uint64]:
    size = noise.scale[i] * abs(pool[at]) + noise.offset[i]
    return count + math.copysign(max(math.floor(size), 0.0), pool[at]), at + ONE


def _gaussian_one(
    noise: GaussianNoise, i: int, count: float, pool: FloatArray, at: np.uint64
) -> tuple[float, np.uint64]:
    return count + noise.sigma * pool[at], at + ONE


def _table_one(
    noise: TableNoise, i: int, count: float, pool: FloatArray, at: np.uint64
) -> tuple[float, np.uint64]:
    return count + look_up(noise, i, pool[at]), at + ONE


def _bits_one(
    noise: BitNoise, i: int, count: float, pool: FloatArray, at: np.uint64
) -> tuple[float, np.uint64]:
    """Draw how many bits turn, then which of them are among the ``count`` ones."""
    left, flips = noise.bits[i], look_up(noise.flips, i, pool[at])
    ones = 0.0
    at += ONE
    for _ in range(int(count)):
        if pool[at] * left < flips:
            flips -= 1
        else:
            ones += 1
        left -= 1
        at += ONE
    return ones + flips, at


@inlined
def look_up(noise: TableNoise, i: int, u: float) -> float:
    """Draw from a counter's table by inversion."""
    table = noise.table[i]
    first = noise.start[table]
    place = noise.guide[first + int(u * (noise.start[table + 1] - first))]
    while noise.cumulative[place] < u:
        place += 1
    drawn: float = (place - noise.centre[table]) * noise.step[table]
    return drawn


refill = by_type(
    {
        Exact: _exact_refill,
        LaplaceNoise: _laplace_refill,
        DiscreteLaplaceNoise: _laplace_refill,
        GaussianNoise: _normal_refill,
        TableNoise: _uniform_refill,
        BitNoise: _uniform_refill,
    },
)
"""refill(noise, words, pool): fill the pool with the standard draws that this noise needs."""

one = by_type(
    {
        Exact: _exact_one,
        LaplaceNoise: _laplace_one,
        DiscreteLaplaceNoise: _discrete_laplace_one,
        GaussianNoise: _gaussian_one,
        TableNoise: _table_one,
        BitNoise: _bits_one,
    },
)
"""one(noise, i, count, pool, at): the report on counter i, and where the pool goes on."""
