"""What every user's report hides behind: the part of its law that depends on nobody's data.

Let R_x be the law of the report of a user with data x, and ω a measure with ω ≤ R_x for every x.
Then R_x = ω + (1 − γ)·(something), γ = Σω: with probability γ a report is a draw from ω/γ, which
says nothing about its user, and a crowd of such reports hides the others (the privacy blanket;
Balle, Bell, Gascón & Nissim 2019). :mod:`ldprl.accounting.shuffling` computes how well.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import reduce

import numpy as np

from ldprl.errors import InputError, positive
from ldprl.shape import FloatArray

MOST_LOCAL_EPSILON = 30.0
"""Above this e^{−ε₀} < 10⁻¹³: no crowd that fits on earth hides anybody."""
_SAME = 11
"""Decimals to which ln(R/ω) of two kinds of report must agree for them to be merged."""


@dataclass(frozen=True)
class Blanket:
    """Two users' laws against the blanket, one entry for each set of reports that look alike.

    Attributes
    ----------
    first, second
        R_x/ω and R_x'/ω, where x and x' are the two inputs that are easiest to distinguish.
    mass
        ω of these reports; it sums to γ < 1.
    """

    first: FloatArray
    second: FloatArray
    mass: FloatArray

    @property
    def weight(self) -> float:
        """γ, the probability that a report says nothing about its user."""
        return float(self.mass.sum())

    @property
    def local_epsilon(self) -> float:
        """ε₀: ln of the largest ratio of the two users' laws."""
        return float(np.log(self.first / self.second).max())


def clones(epsilon: float) -> Blanket:
    """Return the blanket of any ε₀-LDP randomizer ("Hiding among the clones", theorem 3.2).

    Feldman, McMillan & Talwar 2021. Any ε₀-LDP pair is R_x = pQ₀ + qQ₁, R_x' = qQ₀ + pQ₁ with
    p = e^{ε₀}/(e^{ε₀} + 1), q = 1 − p (Kairouz, Oh & Viswanath 2015), and every other user's law is
    ≥ e^{−ε₀}·(R_x + R_x')/2 = e^{−ε₀}·(Q₀ + Q₁)/2. So ω = e^{−ε₀}/2 on each of the two symbols.
    """
    if positive("epsilon", epsilon) > MOST_LOCAL_EPSILON:
        raise InputError("epsilon", epsilon, f"at most {MOST_LOCAL_EPSILON:g} before shuffling")
    odds = math.exp(epsilon)
    ratios = np.array([2 * odds * odds / (odds + 1), 2 * odds / (odds + 1)])
    return Blanket(ratios, ratios[::-1].copy(), np.full(2, 0.5 / odds))


def subset_blanket(items: int, size: int, keep: Fraction) -> Blanket:
    """Return the exact blanket of subset selection: ω(Z) = c, the least chance of a report.

    With γ = (1 − p)·d/(d − w) and r = p(d − w)/((1 − p)w), R_x/ω is r where x is in the report and
    1 where it is not. The four kinds of report: own item alone, the other one alone, both, neither.
    Items of one user that are all different from the other's are the worst case (the page on
    shuffling has the proof). Randomized response is d = 2, w = 1.
    """
    rest = items - size
    ratio = float(keep * rest / ((1 - keep) * size))
    weight = (1 - keep) * items / rest
    ways = (size * rest, size * rest, size * (size - 1), rest * (rest - 1))
    mass = [float(weight * way / (items * (items - 1))) for way in ways]
    return Blanket(
        np.array([ratio, 1.0, ratio, 1.0]), np.array([1.0, ratio, ratio, 1.0]), np.array(mass)
    )


def together(blankets: Sequence[Blanket]) -> Blanket:
    """Return the blanket of a report with several independent answers: the product."""
    return reduce(_both, blankets)


def _both(one: Blanket, other: Blanket) -> Blanket:
    first, second, mass = (
        np.multiply.outer(getattr(one, name), getattr(other, name)).ravel()
        for name in ("first", "second", "mass")
    )
    # Answers to the same question in another order look alike; without this, 4ᵐ kinds of report.
    keys = np.round(np.log(np.column_stack([first, second])), _SAME)
    _, places, which = np.unique(keys, axis=0, return_index=True, return_inverse=True)
    grouped = np.bincount(which.ravel(), weights=mass, minlength=len(places)).astype(np.float64)
    return Blanket(first[places], second[places], grouped)


def mixed(parts: Iterable[tuple[float, Blanket]]) -> Blanket:
    """Return the blanket of users who draw their assignment by public shares, and report which.

    A user's data is what would happen under each of them. R_x(j, Z) = s_j·R_x^j(Z), so
    ω(j, Z) = s_j·ω_j(Z): the crowd is the whole version, γ = Σ_j s_j γ_j.
    """
    shares, blankets = zip(*parts, strict=True)
    if min(shares) < 0 or abs(sum(shares) - 1) > 1e-9:
        raise InputError("shares", shares, "shares that sum to 1")
    return Blanket(
        np.concatenate([blanket.first for blanket in blankets]),
        np.concatenate([blanket.second for blanket in blankets]),
        np.concatenate([s * blanket.mass for s, blanket in zip(shares, blankets, strict=True)]),
    )
