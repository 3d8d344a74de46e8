"""Tallies of many subset-selection reports at once (readable twin: ``SubsetOracle.draw``)."""

from __future__ import annotations

import math

import numba as nb
import numpy as np

from ldprl.shape import IntArray

_FEW = 10
_WIDTH, _MARGIN = 1.7155277699214135, 0.8989161620588988
"""2√(2/e) and 3 − 2√(3/e), the constants of the ratio of uniforms (Stadlober 1990)."""


@nb.njit(cache=True)
def subset_tally(rng: np.random.Generator, items: IntArray, size: int, keep: float) -> IntArray:
    """Draw how often each item is reported when ``items[v]`` users hold v, exactly in law.

    The cells of one report depend on each other, so independent binomials would be wrong.
    """
    told = np.empty(len(items), dtype=np.int64)
    for item in range(len(items)):
        told[item] = rng.binomial(items[item], keep)
    tally = told.copy()
    _add_others(rng, tally, told, size - 1)
    _add_others(rng, tally, items - told, size)
    return tally


@nb.njit(cache=True)
def _add_others(rng: np.random.Generator, tally: IntArray, holders: IntArray, picks: int) -> None:
    """Add ``picks`` items to the report of each holder, any but the own one.

    All users are walked through the items together, classed by the picks they have left and by
    whether their own item is still to come. Until it comes they are alike, whatever it is: so of
    those who wait for theirs, any are equally likely to hold the present one.
    """
    waiting = np.zeros(picks + 1, dtype=np.int64)
    passed = np.zeros(picks + 1, dtype=np.int64)
    waiting[picks] = holders.sum()
    others = len(holders) - 1
    for item in range(len(holders)):
        own = _some_of(rng, waiting, holders[item])
        tally[item] += _pick(rng, waiting, others - item)
        tally[item] += _pick(rng, passed, others - item + 1)
        passed += own


@nb.njit(cache=True)
def _pick(rng: np.random.Generator, left: IntArray, to_come: int) -> int:
    """Return how many pick the present item: with l picks left and r items to come, l/r of them."""
    total = 0
    # From few picks left to many, so that nobody picks the same item twice.
    for picks in range(1, len(left)):
        if left[picks] > 0:
            chosen = left[picks]
            if picks < to_come:
                chosen = rng.binomial(chosen, picks / to_come)
            left[picks] -= chosen
            left[picks - 1] += chosen
            total += chosen
    return total


@nb.njit(cache=True)
def _some_of(rng: np.random.Generator, classes: IntArray, wanted: int) -> IntArray:
    """Take ``wanted`` users out of the classes, all equally likely; return how many of each."""
    taken = np.zeros(len(classes), dtype=np.int64)
    rest = classes.sum()
    for index in range(len(classes)):
        rest -= classes[index]
        taken[index] = hypergeometric(rng, classes[index], rest, wanted)
        classes[index] -= taken[index]
        wanted -= taken[index]
    return taken


@nb.njit(cache=True)
def hypergeometric(rng: np.random.Generator, good: int, bad: int, sample: int) -> int:
    """Draw how many of ``sample`` are good: by urn if few are taken, else HRUA (Stadlober 1990)."""
    everybody = good + bad
    fewer = min(sample, everybody - sample)
    if good == 0 or fewer == 0:
        drawn = 0
    elif bad == 0:
        drawn = fewer
    elif fewer <= _FEW:
        drawn = 0
        for seen in range(fewer):
            drawn += rng.random() * (everybody - seen) < good - drawn
    else:
        drawn = _ratio_of_uniforms(rng, min(good, bad), max(good, bad), fewer)
        if good > bad:
            drawn = fewer - drawn
    return good - drawn if fewer < sample else drawn


@nb.njit(cache=True)
def _ratio_of_uniforms(rng: np.random.Generator, few: int, many: int, sample: int) -> int:
    everybody = few + many
    share = few / everybody
    centre = sample * share + 0.5
    variance = (everybody - sample) * sample * share * (1 - share) / (everybody - 1)
    spread = math.sqrt(variance + 0.5)
    width = _WIDTH * spread + _MARGIN
    mode = math.floor((sample + 1) * ((few + 1) / (everybody + 2)))
    top = _log_chance(mode, few, many, sample)
    # Beyond 16 standard deviations lies nothing that a double could tell from 0.
    limit = min(min(sample, few) + 1, math.floor(centre + 16 * spread))
    while True:
        u, v = rng.random(), rng.random()
        x = centre + width * (v - 0.5) / u if u > 0 else -1.0
        if 0 <= x < limit:
            count = math.floor(x)
            if 2 * math.log(u) <= _log_chance(count, few, many, sample) - top:
                return count


@nb.njit(cache=True)
def _log_chance(count: int, few: int, many: int, sample: int) -> float:
    """Return ln P(count), up to a constant."""
    return -(
        math.lgamma(count + 1.0)
        + math.lgamma(few - count + 1.0)
        + math.lgamma(sample - count + 1.0)
        + math.lgamma(many - sample + count + 1.0)
    )
