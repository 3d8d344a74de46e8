"""The sum of many users' reports, drawn at once.

Twins: ``sample_counts`` of the mechanisms in :mod:`ldprl.mechanisms`.
"""

from __future__ import annotations

import math

from ldprl.shape import Array
from ldprl.simulation.kernels.dispatch import by_type
from ldprl.simulation.kernels.draws import (
    binomial,
    discrete_gaussian,
    gamma,
    negative_binomial,
    normal,
)
from ldprl.simulation.kernels.noise import (
    BitNoise,
    DiscreteLaplaceNoise,
    Exact,
    GaussianNoise,
    LaplaceNoise,
    TableNoise,
)


def _exact_many(noise: Exact, i: int, count: float, users: float, stream: Array) -> float:
    return count


def _laplace_many(noise: LaplaceNoise, i: int, count: float, users: float, stream: Array) -> float:
    total: float = count + noise.scale[i] * (gamma(users, stream) - gamma(users, stream))
    return total


def _discrete_laplace_many(
    noise: DiscreteLaplaceNoise, i: int, count: float, users: float, stream: Array
) -> float:
    odds = noise.odds[i]
    up = negative_binomial(users, odds, stream)
    return count + up - negative_binomial(users, odds, stream)


def _gaussian_many(
    noise: GaussianNoise, i: int, count: float, users: float, stream: Array
) -> float:
    return count + noise.sigma * math.sqrt(users) * normal(stream)


def _table_many(noise: TableNoise, i: int, count: float, users: float, stream: Array) -> float:
    table = noise.table[i]
    if noise.variance[table] > 0:
        return count + discrete_gaussian(users * noise.variance[table], stream)
    left, total = users, 0.0
    for place in range(noise.start[table], noise.start[table + 1]):
        if left == 0:
            break
        drawn = binomial(left, noise.hazards[place], stream)
        total += drawn * noise.outward[place]
        left -= drawn
    summed: float = count + total * noise.step[table]
    return summed


def _bits_many(noise: BitNoise, i: int, count: float, users: float, stream: Array) -> float:
    kept = binomial(count, 1 - noise.flip, stream)
    return kept + binomial(users * noise.bits[i] - count, noise.flip, stream)


many = by_type(
    {
        Exact: _exact_many,
        LaplaceNoise: _laplace_many,
        DiscreteLaplaceNoise: _discrete_laplace_many,
        GaussianNoise: _gaussian_many,
        TableNoise: _table_many,
        BitNoise: _bits_many,
    },
)
"""many(noise, i, count, users, stream): the sum of counter i over the users' reports."""
