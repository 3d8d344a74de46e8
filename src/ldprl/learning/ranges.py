"""Where to put the thresholds that returns are compared with.

A narrow range distinguishes small differences with fewer users, and cuts off what lies outside. The
range follows the returns: what it cuts off on either side is at most a share κ of their mean
absolute deviation.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ldprl.kernels.compiling import entry, kernel
from ldprl.kernels.door import floats
from ldprl.shape import FloatArray, IntArray
from ldprl.statistics import THRESHOLDS

_EARLY, _LATE = (1e4, 0.04), (1e7, 0.0025)
"""(users, κ), log-linear in between. For normal returns κ = 0.04 is mean ± 1.5 sd, 0.0025 ± 2.5
sd. Early on noise is what hurts, later what is cut off (studies/constants.md)."""
_DOUBT = 0.1
"""A tail that is not significantly above κ may still be this share of the deviation."""
_STALE = 1e-3
"""Thresholds with less than this share of the densest part's users are not known any more."""
BANDS = 4
"""Of the range: in each, the answer's expected value is subtracted. 4 to 32 are equal."""
_WATCH = 0.03
"""Share of the users whose thresholds lie next to the range, on either side."""
MOST_BANDS = BANDS + 2
"""With those that watch."""


@dataclass(frozen=True)
class Band:
    """A part of the returns' range, and how likely a return is above a threshold in it."""

    low: float
    high: float
    above: float
    watch: bool
    share: float


class Range(NamedTuple):
    """Where the returns lie, in bands, and room to work in.

    Attributes
    ----------
    keep, contrast
        Of the randomizer: how often a bit is reported as it is, and what decoding divides by.
    used
        How many bands there are: those of the range, and then those that watch what lies next to
        it, of which the users' answers only show where returns lie.
    low, high, above, share
        Of each :class:`Band`; ``share`` is that of the users.
    survival
        P(R > θ) for each part of [0, H].
    area
        Its integral up to each edge.
    """

    keep: float
    contrast: float
    used: IntArray
    low: FloatArray
    high: FloatArray
    above: FloatArray
    share: FloatArray
    survival: FloatArray
    area: FloatArray
    pools: FloatArray

    @property
    def bands(self) -> list[Band]:
        """The bands, for readers."""
        found = zip(self.low, self.high, self.above, self.share, strict=True)
        return [
            Band(float(low), float(high), float(above), i >= BANDS, float(share))
            for i, (low, high, above, share) in enumerate(found)
            if i < self.used[0]
        ]


def range_for(keep: float, contrast: float) -> Range:
    """Return room for a range."""
    return Range(
        keep=keep,
        contrast=contrast,
        used=np.zeros(1, dtype=np.int64),
        low=np.zeros(MOST_BANDS),
        high=np.zeros(MOST_BANDS),
        above=np.zeros(MOST_BANDS),
        share=np.zeros(MOST_BANDS),
        survival=np.zeros(THRESHOLDS),
        area=np.zeros(THRESHOLDS + 1),
        pools=np.zeros((3, THRESHOLDS)),
    )


def bands(
    thresholds: FloatArray, horizon: int, users: int, keep: float, contrast: float
) -> list[Band]:
    """Return the bands of the next plan: see :func:`find_range`."""
    found = range_for(keep, contrast)
    _find_range(found, floats("thresholds", thresholds, (2, THRESHOLDS)), 1.0, horizon, users)
    return found.bands


def mean_return(thresholds: FloatArray, horizon: int, noise: float) -> tuple[float, float]:
    """Return ∫ P(R > θ) dθ, the mean return of those who were asked lately, and its error.

    Parameters are those of :func:`find_range`; ``noise`` is the standard deviation of a decoded bit
    that is a fair coin. Before anybody reports all returns are equally likely.
    """
    density, found = thresholds[0], range_for(1.0, 1.0)
    if not density.any():
        return horizon / 2, horizon / math.sqrt(12)
    _survive(found, floats("thresholds", thresholds, (2, THRESHOLDS)))
    step = horizon / len(density)
    known = density > _STALE * density.max()
    error = noise * math.sqrt(step * float((1 / density[known]).sum()))
    return step * float(found.survival.sum()), error


@entry
def _find_range(
    found: Range, thresholds: FloatArray, unit: float, horizon: int, users: int
) -> None:
    find_range(found, thresholds, unit, horizon, users)


@entry
def _survive(found: Range, thresholds: FloatArray) -> None:
    _find_survival(found, thresholds)


@kernel
def spread(found: Range, expected: float) -> float:
    """Return the standard deviation of a decoded bit that is 1 with this probability."""
    reported = 1 - found.keep + found.contrast * expected
    return math.sqrt(reported * (1 - reported)) / found.contrast


@kernel
def find_range(found: Range, thresholds: FloatArray, unit: float, horizon: int, users: int) -> None:
    """Find the bands of the next plan, and how many users get each.

    Within the range that is for the least variance of the sum over its bands.

    Parameters
    ----------
    found
        What is written to.
    thresholds
        As in :class:`~ldprl.statistics.Effects`.
    unit
        What the next user counts for in them.
    horizon
        Returns lie in [0, H].
    users
        How many have reported.
    """
    step, low, high = horizon / THRESHOLDS, 0.0, float(horizon)
    anybody = _find_survival(found, thresholds)
    found.area[0] = 0.0
    for i in range(THRESHOLDS):
        found.area[i + 1] = found.area[i] + found.survival[i] * step
    if anybody:
        low, high = _cut(found, thresholds[0], unit, step, users)
    total = 0.0
    for i in range(BANDS):
        start, end = low + (high - low) * i / BANDS, low + (high - low) * (i + 1) / BANDS
        _put(found, i, start, end, step)
        found.share[i] = (end - start) * spread(found, found.above[i])
        total += found.share[i]
    used = BANDS
    if low > step:
        _put(found, used, max(0.0, 2 * low - high), low, step)
        used += 1
    if high < horizon - step:
        _put(found, used, high, min(float(horizon), 2 * high - low), step)
        used += 1
    for i in range(used):
        wanted = found.share[i] / total * (1 - _WATCH * (used - BANDS))
        found.share[i] = wanted if i < BANDS else _WATCH
    found.used[0] = used


@kernel
def _put(found: Range, i: int, start: float, end: float, step: float) -> None:
    """Write the bounds of band i, and how likely a return is above a threshold in it."""
    mass = _at(found.area, end / step) - _at(found.area, start / step)
    found.low[i], found.high[i] = start, end
    found.above[i] = min(max(mass / (end - start), 0.02), 0.98)


@kernel
def _at(values: FloatArray, place: float) -> float:
    """Return what lies at ``place`` between two values."""
    before = min(int(place), values.size - 2)
    value: float = values[before] + (values[before + 1] - values[before]) * (place - before)
    return value


@kernel
def _find_survival(found: Range, thresholds: FloatArray) -> bool:
    """Find P(R > θ) for each part, made monotone; 1 below and 0 above what is known.

    The non-increasing sequence of least squares: neighbours that rise are pooled to their weighted
    mean until none do (Ayer et al. 1955). Returns whether anything is known.
    """
    density, above, survival = thresholds[0], thresholds[1], found.survival
    means, masses, ends = found.pools[0], found.pools[1], found.pools[2]
    least, count = 0.0, survival.size
    for i in range(count):
        least = max(least, _STALE * density[i])
    first, last = count, -1
    for i in range(count):
        if density[i] > least:
            first, last = min(first, i), i
    if last < 0:
        for i in range(count):
            survival[i] = 1 - (i + 0.5) / count
        return False
    pools = 0
    for i in range(first, last + 1):
        mean = above[i] / density[i] if density[i] > 0 else 0.5
        mass = max(density[i], least)
        while pools > 0 and means[pools - 1] < mean:
            pools -= 1
            mean = (means[pools] * masses[pools] + mean * mass) / (masses[pools] + mass)
            mass += masses[pools]
        means[pools], masses[pools], ends[pools] = mean, mass, i
        pools += 1
    pool = 0
    for i in range(count):
        if pool < pools - 1 and i > ends[pool]:
            pool += 1
        inside = min(max(means[pool], 0.0), 1.0)
        survival[i] = 1.0 if i < first else 0.0 if i > last else inside
    return True


@kernel
def _cut(
    found: Range, density: FloatArray, unit: float, step: float, users: int
) -> tuple[float, float]:
    """Return the range: beyond it lies a share κ of the deviation at most, or nothing for sure."""
    area, count = found.area, density.size
    total = area[count]
    deviation = 2 * (total - _at(area, total / step))
    cut, most, noise = _kappa(users) * deviation, _DOUBT * deviation, spread(found, 0.5)
    least = 0.0
    for i in range(count):
        least = max(least, _STALE * density[i])
    low_at, high_at, head, tail, above = 0, count, 0.0, 0.0, 0.0
    for i in range(count):
        below = i * step - area[i]
        if below <= cut + min(2 * math.sqrt(head), most):
            low_at = i
        head += step * noise * noise * unit / density[i] if density[i] > least else 0.0
    if count * step - total <= cut + min(2 * math.sqrt(head), most):
        low_at = count
    for i in range(count - 1, -1, -1):
        tail += step * noise * noise * unit / density[i] if density[i] > least else 0.0
        above += found.survival[i] * step
        if above <= cut + min(2 * math.sqrt(tail), most):
            high_at = i
    low, high = low_at * step, high_at * step
    narrowest = 2 * BANDS * step
    if high - low < narrowest:
        middle = min(max((low + high) / 2, narrowest / 2), count * step - narrowest / 2)
        low, high = middle - narrowest / 2, middle + narrowest / 2
    return max(low, 0.0), min(high, count * step)


@kernel
def _kappa(users: int) -> float:
    way = math.log(max(users, 1) / _EARLY[0]) / math.log(_LATE[0] / _EARLY[0])
    way = min(max(way, 0.0), 1.0)
    return math.exp((1 - way) * math.log(_EARLY[1]) + way * math.log(_LATE[1]))
