"""Where to put the thresholds that returns are compared with.

A narrow range distinguishes small differences with fewer users, and cuts off what lies outside. The
range follows the returns: what it cuts off on either side is at most a share κ of their mean
absolute deviation.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from ldprl.isotonic import falling
from ldprl.shape import FloatArray

_EARLY, _LATE = (1e4, 0.04), (1e7, 0.0025)
"""(users, κ), log-linear in between. For normal returns κ = 0.04 is mean ± 1.5 sd, 0.0025 ± 2.5
sd. Early on noise is what hurts, later what is cut off (studies/constants.md)."""
_DOUBT = 0.1
"""A tail that is not significantly above κ may still be this share of the deviation."""
_STALE = 1e-3
"""Thresholds with less than this share of the densest part's users are not known any more."""
_PARTS = 4
"""Bands of the range: in each, the answer's expected value is subtracted. 4 to 32 are equal."""
_WATCH = 0.03
"""Share of the users whose thresholds lie next to the range, on either side."""


@dataclass(frozen=True)
class Band:
    """A part of the returns' range, and how likely a return is above a threshold in it."""

    low: float
    high: float
    above: float
    watch: bool = False


def bands(thresholds: FloatArray, horizon: int, users: int, noise: float) -> list[Band]:
    """Return the bands of the next plan.

    Parameters
    ----------
    thresholds
        As in :class:`~ldprl.statistics.Effects`, weights relative to the next user's.
    horizon
        Returns lie in [0, H].
    users
        How many have reported.
    noise
        Standard deviation of a decoded bit that is a fair coin.
    """
    edges = np.linspace(0, horizon, thresholds.shape[1] + 1)
    density, above = thresholds
    if not density.any():
        survival = 1 - (edges[1:] + edges[:-1]) / (2 * horizon)
        low, high = 0.0, float(horizon)
    else:
        survival = _survival(density, above)
        low, high = _range(survival, density, edges, users, noise)
    area = np.concatenate([[0.0], np.cumsum(survival * np.diff(edges))])

    def band(start: float, end: float, *, watch: bool = False) -> Band:
        mass = float(np.interp(end, edges, area) - np.interp(start, edges, area))
        return Band(start, end, min(max(mass / (end - start), 0.02), 0.98), watch)

    cuts = np.linspace(low, high, _PARTS + 1).tolist()
    result = [band(start, end) for start, end in pairwise(cuts)]
    least = horizon / thresholds.shape[1]
    if low > least:
        result.append(band(max(0.0, 2 * low - high), low, watch=True))
    if high < horizon - least:
        result.append(band(high, min(float(horizon), 2 * high - low), watch=True))
    return result


def mean_return(thresholds: FloatArray, horizon: int, noise: float) -> tuple[float, float]:
    """Return ∫ P(R > θ) dθ, the mean return of those who were asked lately, and its error.

    Parameters are those of :func:`bands`. Before anybody reports all returns are equally likely.
    """
    density, above = thresholds
    if not density.any():
        return horizon / 2, horizon / math.sqrt(12)
    step = horizon / len(density)
    known = density > _STALE * density.max()
    error = noise * math.sqrt(step * float((1 / density[known]).sum()))
    return step * float(_survival(density, above).sum()), error


def shares(all_bands: list[Band], spreads: FloatArray) -> FloatArray:
    """Return how many users get each band: least variance of the sum over the range's bands."""
    watch = np.array([one.watch for one in all_bands])
    width = np.array([one.high - one.low for one in all_bands])
    wanted = np.where(watch, 0.0, width * spreads)
    result: FloatArray = np.where(watch, _WATCH, wanted / wanted.sum() * (1 - _WATCH * watch.sum()))
    return result


def _survival(density: FloatArray, above: FloatArray) -> FloatArray:
    """Return P(R > θ) for each part, made monotone; 1 below and 0 above what is known."""
    known = np.flatnonzero(density > _STALE * density.max())
    result = np.zeros(len(density))
    result[: known[0]] = 1.0
    inner = slice(known[0], known[-1] + 1)
    weights = np.maximum(density[inner], _STALE * density.max())
    raw = np.divide(
        above[inner], density[inner], out=np.full(len(weights), 0.5), where=density[inner] > 0
    )
    result[inner] = np.clip(falling(raw, weights), 0, 1)
    return result


def _range(
    survival: FloatArray, density: FloatArray, edges: FloatArray, users: int, noise: float
) -> tuple[float, float]:
    step = np.diff(edges)
    mass = np.append(np.cumsum((survival * step)[::-1])[::-1], 0.0)
    below = np.append(0.0, np.cumsum((1 - survival) * step))
    deviation = 2 * float(np.interp(mass[0], edges, mass))
    known = density > _STALE * density.max()
    doubt = np.where(known, step * noise**2 / np.maximum(density, 1e-300), 0.0)
    tail_error = np.sqrt(np.append(np.cumsum(doubt[::-1])[::-1], 0.0))
    head_error = np.sqrt(np.append(0.0, np.cumsum(doubt)))
    cut = _kappa(users) * deviation
    fine_above = mass <= cut + np.minimum(2 * tail_error, _DOUBT * deviation)
    fine_below = below <= cut + np.minimum(2 * head_error, _DOUBT * deviation)
    high = float(edges[np.argmax(fine_above)])
    low = float(edges[len(edges) - 1 - np.argmax(fine_below[::-1])])
    least = 2 * _PARTS * float(step[0])
    if high - low < least:
        middle = min(max((low + high) / 2, least / 2), float(edges[-1]) - least / 2)
        low, high = middle - least / 2, middle + least / 2
    return max(low, 0.0), min(high, float(edges[-1]))


def _kappa(users: int) -> float:
    (first, start), (last, end) = _EARLY, _LATE
    way = min(max(math.log(max(users, 1) / first) / math.log(last / first), 0.0), 1.0)
    return math.exp((1 - way) * math.log(start) + way * math.log(end))
