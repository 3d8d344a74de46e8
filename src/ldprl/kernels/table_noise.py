"""Laws over finitely many values in compiled code, and noise on counters that has such a law."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ldprl.kernels.compiling import inlined
from ldprl.kernels.draws import binomial, discrete_gaussian
from ldprl.kernels.generator import fill_uniform, fill_words, uniform
from ldprl.layout import Layout
from ldprl.shape import Array, FloatArray, IntArray

if TYPE_CHECKING:
    from ldprl.mechanisms.noise_table import NoiseTable


class TableNoise(NamedTuple):
    """Noise on finitely many integers: counter i has table number ``table[i]``.

    Tables stand end to end, table b from ``start[b]`` to ``start[b + 1]``, zero at ``centre[b]``,
    in steps of ``step[b]``; ``guide`` says where to begin to look in ``cumulative``. ``outward``
    and ``hazards`` list each table from its most likely value to its least, for multinomials.
    Where ``variance`` is not 0 the noise is a discrete Gaussian so wide that a sum of n draws is
    drawn as one of variance nσ².
    """

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

    def fill(self, stream: Array, words: Array, drawn: FloatArray) -> None:
        """Draw numbers in (0, 1)."""
        fill_words(stream, words)
        fill_uniform(words, drawn)

    def one(self, i: int, count: float, drawn: float, stream: Array) -> float:
        """Add one draw."""
        decoded: float = (count + _look_up(self, i, drawn)) * self.unit[i]
        return decoded

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

    flip: float
    bits: FloatArray
    gain: FloatArray
    shift: FloatArray
    flips: TableNoise

    def fill(self, stream: Array, words: Array, drawn: FloatArray) -> None:
        """Draw numbers in (0, 1)."""
        fill_words(stream, words)
        fill_uniform(words, drawn)

    def one(self, i: int, count: float, drawn: float, stream: Array) -> float:
        """Draw how many bits turn, then which of them are among the ``count`` ones."""
        left, flips = self.bits[i], _look_up(self.flips, i, drawn)
        ones = 0.0
        for _ in range(int(count)):
            if uniform(stream) * left < flips:
                flips -= 1
            else:
                ones += 1
            left -= 1
        decoded: float = self.gain[i] * (ones + flips - self.shift[i])
        return decoded

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
    return BitNoise(
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
