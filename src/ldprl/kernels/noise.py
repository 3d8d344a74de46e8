"""Noise on counters, as kernels draw it: named tuples of numbers, one for each counter.

A noise has three methods. ``fill`` draws a standard number for each of some counters, ``one`` turns
a user's counter and such a number into what is decoded from the report on it, and ``many`` draws
the decoded sum of many users' reports. All decode: results are unbiased, in units of the counter.
Noise from a table is in :mod:`ldprl.kernels.table_noise`.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from ldprl.kernels.compiling import method
from ldprl.kernels.draws import gamma, laplace_offset, negative_binomial, normal
from ldprl.kernels.generator import fill_laplace, fill_normal, fill_words
from ldprl.layout import Layout
from ldprl.shape import Array, FloatArray

fill = method("fill")
"""fill(noise, stream, words, drawn): draw standard numbers, an even number; ``words`` is room."""
one = method("one")
"""one(noise, i, count, drawn, stream): a decoded report on counter i, by a standard number."""
many = method("many")
"""many(noise, i, count, users, stream): counter i, decoded from the sum of the users' reports."""


class NoNoise(NamedTuple):
    """Reports are true."""

    def fill(self, stream: Array, words: Array, drawn: FloatArray) -> None:
        """Do nothing."""

    def one(self, i: int, count: float, drawn: float, stream: Array) -> float:
        """Return the counter."""
        return count

    def many(self, i: int, count: float, users: float, stream: Array) -> float:
        """Return the counter."""
        return count


class LaplaceNoise(NamedTuple):
    """Continuous Laplace noise of one ``scale``."""

    scale: float

    def fill(self, stream: Array, words: Array, drawn: FloatArray) -> None:
        """Draw Laplace numbers of scale 1."""
        fill_words(stream, words)
        fill_laplace(words, drawn)

    def one(self, i: int, count: float, drawn: float, stream: Array) -> float:
        """Add one draw."""
        return count + self.scale * drawn

    def many(self, i: int, count: float, users: float, stream: Array) -> float:
        """Add a sum of draws: the difference of two Gamma variables."""
        return count + self.scale * (gamma(users, stream) - gamma(users, stream))


class DiscreteLaplaceNoise(NamedTuple):
    """Discrete Laplace noise.

    ``offset`` is that of :func:`~ldprl.kernels.draws.laplace_offset`, ``odds`` the mean of the two
    geometric laws that the noise is the difference of, ``unit`` what the counter counts in.
    """

    scale: FloatArray
    offset: FloatArray
    odds: FloatArray
    unit: FloatArray

    def fill(self, stream: Array, words: Array, drawn: FloatArray) -> None:
        """Draw continuous Laplace numbers of scale 1."""
        fill_words(stream, words)
        fill_laplace(words, drawn)

    def one(self, i: int, count: float, drawn: float, stream: Array) -> float:
        """Add one draw, the integer part of a continuous one."""
        size = self.scale[i] * abs(drawn) + self.offset[i]
        noise = math.copysign(max(math.floor(size), 0.0), drawn)
        decoded: float = (count + noise) * self.unit[i]
        return decoded

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
    return DiscreteLaplaceNoise(scales, offset, 1 / np.expm1(1 / scales), 1 / units)


class GaussianNoise(NamedTuple):
    """Continuous Gaussian noise, the same for all counters."""

    sigma: float

    def fill(self, stream: Array, words: Array, drawn: FloatArray) -> None:
        """Draw standard normal numbers."""
        fill_words(stream, words)
        fill_normal(words, drawn)

    def one(self, i: int, count: float, drawn: float, stream: Array) -> float:
        """Add one draw."""
        return count + self.sigma * drawn

    def many(self, i: int, count: float, users: float, stream: Array) -> float:
        """Add a sum of draws, which is Gaussian."""
        return count + self.sigma * math.sqrt(users) * normal(stream)
