"""The catalogue's mechanisms as the kernels know them: named tuples of numbers.

The type of such a tuple picks the functions that are compiled: how a report is made, how the sum
of many is drawn, and how a sum is decoded. Numbers in arrays are one a counter.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from ldprl.shape import FloatArray, IntArray
from ldprl.simulation.kernels.dispatch import by_type


class Exact(NamedTuple):
    """No noise."""

    draws_each: int


class LaplaceNoise(NamedTuple):
    """Continuous Laplace noise: its ``scale`` for each counter."""

    draws_each: int
    scale: FloatArray


class DiscreteLaplaceNoise(NamedTuple):
    """Discrete Laplace noise: numbers for each counter.

    ``offset`` is that of :func:`~ldprl.simulation.kernels.draws.laplace_offset`, ``odds`` the mean
    of the two geometric laws that it is the difference of, ``unit`` what the counter counts in.
    """

    draws_each: int
    scale: FloatArray
    offset: FloatArray
    odds: FloatArray
    unit: FloatArray


class GaussianNoise(NamedTuple):
    """Continuous Gaussian noise, the same for all counters."""

    draws_each: int
    sigma: float


class TableNoise(NamedTuple):
    """Noise on finitely many integers: counter i has table number ``table[i]``.

    Tables stand end to end, table b from ``start[b]`` to ``start[b + 1]``, zero at ``centre[b]``,
    in steps of ``step[b]``; ``guide`` tells where to begin to look in ``cumulative``. ``outward``
    and ``hazards`` list each table from its most likely value to its least, for multinomials. Where
    ``variance`` is not 0 the noise is a discrete Gaussian with σ ≥ 3, and a sum of n draws is taken
    as one draw of variance nσ²: the two laws differ by a factor of at most
    exp(±10·n·e^{−π²σ²}) (Kairouz, Liu & Steinke 2021, theorem 1), 1 ± 10⁻²⁵ for n = 10¹².
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


class BitNoise(NamedTuple):
    """Bits flipped with probability ``flip``: how many ``bits`` each counter has.

    ``flips`` tells how many of them turn; ``gain`` and ``shift`` undo it.
    """

    draws_each: int
    flip: float
    bits: FloatArray
    gain: FloatArray
    shift: FloatArray
    flips: TableNoise


def _plain(noise: Any, i: int, total: float, reports: float) -> float:
    return total


def _in_units(noise: Any, i: int, total: float, reports: float) -> float:
    estimated: float = total * noise.unit[i]
    return estimated


def _unflipped(noise: BitNoise, i: int, total: float, reports: float) -> float:
    estimated: float = noise.gain[i] * (total - reports * noise.shift[i])
    return estimated


estimate = by_type(
    {
        Exact: _plain,
        LaplaceNoise: _plain,
        DiscreteLaplaceNoise: _in_units,
        GaussianNoise: _plain,
        TableNoise: _in_units,
        BitNoise: _unflipped,
    },
)
"""estimate(noise, i, total, reports): what counter i was, from the sum of so many reports."""
