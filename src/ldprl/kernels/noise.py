"""Noise on counters, as kernels draw it: named tuples of numbers, one for each counter.

A noise has three methods. ``refill`` fills a pool with the standard draws that it needs, ``one``
turns a user's counter into what is decoded from the report on it, and ``many`` draws the decoded
sum of many users' reports. All decode: results are unbiased, in units of the counter. Noise from a
table is in :mod:`ldprl.kernels.table_noise`.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from ldprl.kernels.compiling import method
from ldprl.kernels.draws import gamma, laplace_offset, negative_binomial, normal
from ldprl.kernels.generator import fill_laplace, fill_normal
from ldprl.layout import Layout
from ldprl.shape import Array, FloatArray

ONE = np.uint64(1)
"""Places are unsigned: numba wraps negative ones around, which keeps loops from vectorising."""

refill = method("refill")
"""refill(noise, words, pool): fill the pool with standard draws."""
one = method("one")
"""one(noise, i, count, pool, at): a decoded report on counter i, and where the pool goes on."""
many = method("many")
"""many(noise, i, count, users, stream): counter i, decoded from the sum of the users' reports."""


class NoNoise(NamedTuple):
    """Reports are true."""

    draws_each: int

    def refill(self, words: Array, pool: FloatArray) -> None:
        """Do nothing."""

    def one(self, i: int, count: float, pool: FloatArray, at: np.uint64) -> tuple[float, np.uint64]:
        """Return the counter."""
        return count, at

    def many(self, i: int, count: float, users: float, stream: Array) -> float:
        """Return the counter."""
        return count


class LaplaceNoise(NamedTuple):
    """Continuous Laplace noise of one ``scale``."""

    draws_each: int
    scale: float

    def refill(self, words: Array, pool: FloatArray) -> None:
        """Fill the pool with Laplace draws of scale 1."""
        fill_laplace(words, pool)

    def one(self, i: int, count: float, pool: FloatArray, at: np.uint64) -> tuple[float, np.uint64]:
        """Add one draw."""
        return count + self.scale * pool[at], at + ONE

    def many(self, i: int, count: float, users: float, stream: Array) -> float:
        """Add a sum of draws: the difference of two Gamma variables."""
        return count + self.scale * (gamma(users, stream) - gamma(users, stream))


class DiscreteLaplaceNoise(NamedTuple):
    """Discrete Laplace noise.

    ``offset`` is that of :func:`~ldprl.kernels.draws.laplace_offset`, ``odds`` the mean of the two
    geometric laws that the noise is the difference of, ``unit`` what the counter counts in.
    """

    draws_each: int
    scale: FloatArray
    offset: FloatArray
    odds: FloatArray
    unit: FloatArray

    def refill(self, words: Array, pool: FloatArray) -> None:
        """Fill the pool with continuous Laplace draws of scale 1."""
        fill_laplace(words, pool)

    def one(self, i: int, count: float, pool: FloatArray, at: np.uint64) -> tuple[float, np.uint64]:
        """Add one draw, the integer part of a continuous one."""
        size = self.scale[i] * abs(pool[at]) + self.offset[i]
        drawn = math.copysign(max(math.floor(size), 0.0), pool[at])
        return (count + drawn) * self.unit[i], at + ONE

    def many(self, i: int, count: float, users: float, stream: Array) -> float:
        """Add a sum of draws: the difference of two negative binomials."""
        up = negative_binomial(users, self.odds[i], stream)
        total = count + up - negative_binomial(users, self.odds[i], stream)
        decoded: float = total * self.unit[i]
        return decoded


def discrete_laplace_noise(layout: Layout, scale: float) -> DiscreteLaplaceNoise:
    """Return discrete Laplace noise of ``scale`` for each unit that a step can add."""
    units = layout.units().astype(np.float64)
    scales = scale * units
    offset = np.array([laplace_offset(value) for value in scales])
    return DiscreteLaplaceNoise(layout.length, scales, offset, 1 / np.expm1(1 / scales), 1 / units)


class GaussianNoise(NamedTuple):
    """Continuous Gaussian noise, the same for all counters."""

    draws_each: int
    sigma: float

    def refill(self, words: Array, pool: FloatArray) -> None:
        """Fill the pool with standard normal draws."""
        fill_normal(words, pool)

    def one(self, i: int, count: float, pool: FloatArray, at: np.uint64) -> tuple[float, np.uint64]:
        """Add one draw."""
        return count + self.sigma * pool[at], at + ONE

    def many(self, i: int, count: float, users: float, stream: Array) -> float:
        """Add a sum of draws, which is Gaussian."""
        return count + self.sigma * math.sqrt(users) * normal(stream)
