"""An interval for the mean of bits that holds at all times, whatever made the bits.

Let Z_1, Z_2, … be bits, q_i = P(Z_i = 1 | past), and S the sum of the first n. For every fixed λ

    exp(λS) / Π_i (1 + q_i(e^λ − 1))

is a martingale that starts at 1. As ln(1 + q(e^λ − 1)) is concave in q, the product is at most
(1 + q̄(e^λ − 1))^n, q̄ the mean of the q_i. So the mixture over a fixed set of λ,

    E_n(q̄) = Σ_λ w_λ · exp(λS − n·ln(1 + q̄(e^λ − 1))),

never exceeds a martingale, and by Ville's inequality P(E_n(q̄_n) ≥ 1/α for some n) ≤ α: the set of
all q with E_n(q) < 1/α contains q̄_n at all times with probability 1 − α. Nothing is assumed of
the q_i: they may drift and depend on the past. ln E_n is convex in q, so the set is an interval.

Bits about two policies make two such martingales. Each bit moves one of them, so their product is
one, too: E(q) · E'(q') < 1/α holds for both means at once, and bounds their difference.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from ldprl.errors import whole_number
from ldprl.shape import FloatArray, IntArray

_RATES = 2.0 ** -np.arange(12.0)
"""λ, both signs, equal weights. For bits of variance 1/4 the best λ is 2·√(2·ln(1/α')/n), with α'
the level after the mixture's share: about 8/√n, so that these suit n from 10² to 2·10⁸. A factor of
2 between them costs less than a tenth of the exponent. Chosen by this formula, on no data."""
_LAMBDAS = np.concatenate([_RATES, -_RATES])
_RISES = np.expm1(_LAMBDAS)
_HALVINGS = 40
"""Bisection to 2⁻⁴⁰."""
_PLACES, _ROUNDS = 17, 8
"""The ends of a difference are found among 17 places, then among 17 between two of these, and so
on: to 16⁻⁸ = 2⁻³² of their interval."""
_LEAST_HALVINGS = 30
"""The least evidence of two series lies in an interval of 2⁻³⁰. What is missing to the minimum is
subtracted, so that no error adds evidence; at 10⁸ bits it is below 10⁻⁸."""


@dataclass(frozen=True)
class Interval:
    """From ``low`` to ``high``, both ends included."""

    low: float
    high: float


@dataclass(frozen=True)
class Bits:
    """How many bits there are, and how many of them are 1; two of them are merged by adding."""

    users: int
    ones: int

    def __post_init__(self) -> None:
        whole_number("users", self.users, 0)
        whole_number("ones", self.ones, 0, self.users)

    def __add__(self, other: Bits) -> Bits:
        return Bits(self.users + other.users, self.ones + other.ones)

    @property
    def flipped(self) -> Bits:
        """The same bits, each turned around."""
        return Bits(self.users, self.users - self.ones)

    @property
    def mean(self) -> float:
        """The share of ones, ½ without any bits."""
        return self.ones / self.users if self.users else 0.5


def log_evidence(
    users: int | IntArray, ones: int | IntArray, mean: float | FloatArray
) -> FloatArray:
    """Return ln E_n(q), the evidence of n = ``users`` bits against each ``mean`` q."""
    powers = _powers(users, ones, mean)
    most = powers.max(axis=-1)
    total: FloatArray = most + np.log(np.mean(np.exp(powers - most[..., None]), axis=-1))
    return total


def evidence_slope(
    users: int | IntArray, ones: int | IntArray, mean: float | FloatArray
) -> FloatArray:
    """Return the derivative of ln E_n(q) in q."""
    powers = _powers(users, ones, mean)
    weights = np.exp(powers - powers.max(axis=-1)[..., None])
    rates = _RISES / (1 + np.asarray(mean)[..., None] * _RISES)
    total: FloatArray = -users * (weights * rates).sum(axis=-1) / weights.sum(axis=-1)
    return total


def least_evidence(
    first: tuple[int | IntArray, int | IntArray],
    second: tuple[int | IntArray, int | IntArray],
    apart: FloatArray,
) -> FloatArray:
    """Return min over q of ln E(q + ``apart``) + ln E'(q), never too large.

    ``first`` and ``second`` have the users and the ones of two series.
    """
    low, high = np.maximum(0.0, -apart), np.minimum(1.0, 1.0 - apart)

    def slope(mean: FloatArray) -> FloatArray:
        result: FloatArray = evidence_slope(*first, mean + apart) + evidence_slope(*second, mean)
        return result

    for _ in range(_LEAST_HALVINGS):
        middle = (low + high) / 2
        rising = slope(middle) > 0
        low, high = np.where(rising, low, middle), np.where(rising, middle, high)
    middle = (low + high) / 2
    both = log_evidence(*first, middle + apart) + log_evidence(*second, middle)
    # ln E is convex in q, so the minimum lies above the tangent.
    result: FloatArray = both - np.abs(slope(middle)) * (high - low) / 2
    return result


def _powers(users: int | IntArray, ones: int | IntArray, mean: float | FloatArray) -> FloatArray:
    """Return λS − n·ln(1 + q(e^λ − 1)) for each λ, along a last axis."""
    counts, sums = np.asarray(users)[..., None], np.asarray(ones)[..., None]
    powers: FloatArray = _LAMBDAS * sums - counts * np.log1p(np.asarray(mean)[..., None] * _RISES)
    return powers


@lru_cache
def mean_interval(bits: Bits, failure: float) -> Interval:
    """Return an interval for the mean of the q_i that holds at all times, with 1 − ``failure``."""
    budget = -math.log(failure)
    return Interval(1 - _upper(bits.flipped, budget), _upper(bits, budget))


@lru_cache
def difference_interval(first: Bits, second: Bits, failure: float) -> Interval:
    """Return such an interval for the mean of the first minus that of the second."""
    budget = -math.log(failure)
    return Interval(-_farthest(second, first, budget), _farthest(first, second, budget))


def _upper(bits: Bits, budget: float) -> float:
    """Return the largest q with ln E_n(q) ≤ budget, rounded outwards."""
    # There is no evidence against the observed mean: each of the powers is ≤ 0 there (Jensen).
    inside, outside = bits.mean, 1.0
    for _ in range(_HALVINGS):
        middle = (inside + outside) / 2
        fits = log_evidence(bits.users, bits.ones, middle) <= budget
        inside, outside = (middle, outside) if fits else (inside, middle)
    return outside


def _farthest(first: Bits, second: Bits, budget: float) -> float:
    """Return the largest q − q' with ln E(q) + ln E'(q') ≤ budget, rounded outwards."""
    inside, outside = first.mean - second.mean, 1.0
    for _ in range(_ROUNDS):
        places = np.linspace(inside, outside, _PLACES)[1:-1]
        least = least_evidence((first.users, first.ones), (second.users, second.ones), places)
        # The evidence rises with the distance from what was observed.
        fitting = int((least <= budget).sum())
        ends = np.concatenate([[inside], places, [outside]])
        inside, outside = float(ends[fitting]), float(ends[fitting + 1])
    return outside
