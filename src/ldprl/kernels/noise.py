"""Noise on counters, as kernels draw it: named tuples of numbers, one for each counter.

A noise answers three questions. ``refill`` fills a pool with the standard draws that it needs,
``one`` turns a user's counter into what is decoded from the report on it, and ``many`` draws the
decoded sum of many users' reports. All decode: results are unbiased, in units of the counter.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ldprl.kernels.compiling import inlined, method
from ldprl.kernels.draws import (
    binomial,
    discrete_gaussian,
    gamma,
    laplace_offset,
    negative_binomial,
    normal,
)
from ldprl.kernels.generator import fill_laplace, fill_normal, fill_uniform
from ldprl.mechanisms.layout import Layout
from ldprl.mechanisms.table import NoiseTable
from ldprl.shape import Array, FloatArray, IntArray

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


class TableNoise(NamedTuple):
    """Noise on finitely many integers: counter i has table number ``table[i]``.

    Tables stand end to end, table b from ``start[b]`` to ``start[b + 1]``, zero at ``centre[b]``,
    in steps of ``step[b]``; ``guide`` says where to begin to look in ``cumulative``. ``outward``
    and ``hazards`` list each table from its most likely value to its least, for multinomials.
    Where ``variance`` is not 0 the noise is a discrete Gaussian so wide that a sum of n draws is
    drawn as one of variance nσ².
    """

    draws_each: int
    table: IntArray
    start: IntArray
    centre: IntArray
    cumulative: FloatArray
    guide: IntArray
    outward: FloatArray
    hazards: FloatArray
    step: FloatArray
    variance: FloatArray
    unit: FloatArray

    def refill(self, words: Array, pool: FloatArray) -> None:
        """Fill the pool with uniform draws."""
        fill_uniform(words, pool)

    def one(self, i: int, count: float, pool: FloatArray, at: np.uint64) -> tuple[float, np.uint64]:
        """Add one draw."""
        return (count + _look_up(self, i, pool[at])) * self.unit[i], at + ONE

    def many(self, i: int, count: float, users: float, stream: Array) -> float:
        """Add a sum of draws: a multinomial over the table, or one wide discrete Gaussian."""
        table = self.table[i]
        total = 0.0
        if self.variance[table] > 0:
            total = discrete_gaussian(users * self.variance[table], stream)
        else:
            left = users
            for place in range(self.start[table], self.start[table + 1]):
                if left == 0:
                    break
                drawn = binomial(left, self.hazards[place], stream)
                total += drawn * self.outward[place] * self.step[table]
                left -= drawn
        decoded: float = (count + total) * self.unit[i]
        return decoded


@inlined
def _look_up(noise: TableNoise, i: int, u: float) -> float:
    """Draw from a counter's table by inversion."""
    table = noise.table[i]
    first = noise.start[table]
    place = noise.guide[first + int(u * (noise.start[table + 1] - first))]
    while noise.cumulative[place] < u:
        place += 1
    drawn: float = (place - noise.centre[table]) * noise.step[table]
    return drawn


def table_noise(
    layout: Layout, tables: Sequence[NoiseTable], table: IntArray, variance: Sequence[float]
) -> TableNoise:
    """Return noise from ``tables``: counter i draws from number ``table[i]``.

    ``variance`` has, for each table, σ² of a discrete Gaussian whose sums are drawn as one, or 0.
    """
    return _laid_out(
        layout,
        [one.pmf for one in tables],
        [one.radius for one in tables],
        np.array([1 / one.grid for one in tables]),
        table,
        np.array(variance),
    )


def _laid_out(
    layout: Layout,
    laws: Sequence[FloatArray],
    centres: Sequence[int],
    steps: FloatArray,
    table: IntArray,
    variance: FloatArray,
) -> TableNoise:
    """Lay the tables end to end, with a guide of the same length beside them."""
    start = np.cumsum([0, *map(len, laws)], dtype=np.int64)
    sums, guides, outward, rates = [], [], [], []
    for law, centre, first in zip(laws, centres, start, strict=False):
        order = np.argsort(-law, kind="stable")
        sums.append(cumulative(law))
        guides.append(first + np.searchsorted(sums[-1], np.arange(len(law)) / len(law)))
        outward.append((order - centre).astype(np.float64))
        rates.append(hazards(law[order]))
    return TableNoise(
        draws_each=layout.length,
        table=table,
        start=start,
        centre=start[:-1] + np.array(centres, dtype=np.int64),
        cumulative=np.concatenate(sums),
        guide=np.concatenate(guides),
        outward=np.concatenate(outward),
        hazards=np.concatenate(rates),
        step=steps,
        variance=variance,
        unit=1 / layout.units(),
    )


class BitNoise(NamedTuple):
    """Bits flipped with probability ``flip``: counter i has ``bits[i]`` of them.

    ``flips`` says how many of them turn; ``gain`` and ``shift`` undo it.
    """

    draws_each: int
    flip: float
    bits: FloatArray
    gain: FloatArray
    shift: FloatArray
    flips: TableNoise

    def refill(self, words: Array, pool: FloatArray) -> None:
        """Fill the pool with uniform draws."""
        fill_uniform(words, pool)

    def one(self, i: int, count: float, pool: FloatArray, at: np.uint64) -> tuple[float, np.uint64]:
        """Draw how many bits turn, then which of them are among the ``count`` ones."""
        left, flips = self.bits[i], _look_up(self.flips, i, pool[at])
        ones = 0.0
        at += ONE
        for _ in range(int(count)):
            if pool[at] * left < flips:
                flips -= 1
            else:
                ones += 1
            left -= 1
            at += ONE
        return self.gain[i] * (ones + flips - self.shift[i]), at

    def many(self, i: int, count: float, users: float, stream: Array) -> float:
        """Draw how many ones stay and how many zeros turn."""
        kept = binomial(count, 1 - self.flip, stream)
        kept += binomial(users * self.bits[i] - count, self.flip, stream)
        total: float = self.gain[i] * (kept - users * self.shift[i])
        return total


def bit_noise(layout: Layout, bits: IntArray, flip: float, gain: float) -> BitNoise:
    """Return the noise of ``bits`` that flip with probability ``flip``; ``gain`` undoes it."""
    sizes, table = np.unique(bits, return_inverse=True)
    laws = [_binomial(int(size), flip) for size in sizes]
    none = np.zeros(len(laws))
    counted = layout.shape.horizon * (2 + 2 * (layout.resolution or 1))
    return BitNoise(
        # One draw for each counter, and one more for each unit that is counted in it.
        draws_each=layout.length + counted,
        flip=flip,
        bits=bits.astype(np.float64),
        gain=gain / layout.units(),
        shift=bits.astype(np.float64) * flip,
        flips=_laid_out(layout, laws, [0] * len(laws), none + 1, table.astype(np.int64), none),
    )


def _binomial(bits: int, flip: float) -> FloatArray:
    """Return the law of how many of ``bits`` bits flip."""
    odds = flip / (1 - flip)
    law = [(1 - flip) ** bits]
    for flipped in range(bits):
        law.append(law[-1] * odds * (bits - flipped) / (flipped + 1))
    return np.array(law)


def cumulative(laws: FloatArray) -> FloatArray:
    """Return running sums of each row, exactly 1 from its last possible entry on."""
    sums = np.cumsum(laws / laws.sum(axis=-1, keepdims=True), axis=-1)
    return np.where(_after(laws) > 0, np.minimum(sums, 1.0), 1.0)


def hazards(laws: FloatArray) -> FloatArray:
    """Return P(i | none before i) of each row, exactly 1 for its last possible entry."""
    return np.divide(laws, laws + _after(laws), out=np.ones_like(laws), where=laws > 0) * (laws > 0)


def _after(laws: FloatArray) -> FloatArray:
    """Return the mass behind each entry of a row, summed from the end: no cancellation."""
    from_here = np.flip(np.cumsum(np.flip(laws, axis=-1), axis=-1), axis=-1)
    return np.append(from_here[..., 1:], np.zeros_like(from_here[..., :1]), axis=-1)
