"""What several reports of one user cost together.

Basic composition adds up: Σε, Σδ, in exact rational arithmetic. For many reports of one cost the
composition of privacy-loss distributions gives a far smaller ε at a small δ; both are sound, so the
smaller counts. Later reports may depend on earlier ones, as policies do: pairs that dominate
compose adaptively (Zhu, Dong & Wang 2022). Their *costs* are taken as fixed in advance. Where a
service may choose the next cost after seeing a report, :mod:`ldprl.accounting.filter` decides.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

import numpy as np

from ldprl.accounting.loss import LEAST_DELTA, LossDistribution, LossPair, compose
from ldprl.bisection import bisect
from ldprl.errors import InputError, positive, probability

_GRID_BITS = 18
"""The grid of one pair has 2¹⁸ points divided by the number of copies, rounded to a power of 2, so
that the composed grid keeps its size."""
_LEAST_POINTS = 2**6
"""Fewest points in the grid of one pair."""
_ROUNDING = 1e-14
"""Relative and absolute difference up to which two probabilities count as equal."""
MOST_EPSILON = 20
"""Reports with a larger ε hide almost nothing, and count as hiding nothing."""

Number = float | str | Decimal | Fraction


@dataclass(frozen=True)
class Budget:
    """An amount of privacy (ε, δ), to be spent or already spent, as exact as it was written.

    Numbers are taken by their decimal digits, so that 0.1 + 0.2 is 0.3.
    """

    epsilon: Fraction
    delta: Fraction

    def __init__(self, epsilon: Number, delta: Number = 0) -> None:
        object.__setattr__(self, "epsilon", _exact("epsilon", epsilon))
        object.__setattr__(self, "delta", _exact("delta", delta))
        positive("epsilon", float(self.epsilon))
        probability("delta", float(self.delta), zero=True)

    def __str__(self) -> str:
        return f"(ε = {float(self.epsilon):.10g}, δ = {float(self.delta):.10g})"


@dataclass(frozen=True)
class Spent:
    """What reports cost together: ``epsilon`` at ``delta``, and the sums that are always true.

    ``epsilon`` is infinite if nothing is known at this δ.
    """

    reports: int
    epsilon: float
    delta: float
    basic_epsilon: Fraction
    basic_delta: Fraction


def spent_together(costs: Sequence[Budget], delta: Number | None = None) -> Spent:
    """Return what reports of these costs cost together at ``delta``, by default the sum of theirs.

    Unequal costs are added up, since they may have been chosen one after the other; the
    number of equal ones is taken as fixed in advance.
    """
    epsilon_sum = sum((cost.epsilon for cost in costs), Fraction(0))
    delta_sum = sum((cost.delta for cost in costs), Fraction(0))
    if delta is None:
        level = min(delta_sum, Fraction(1))
    else:
        level = _exact("delta", delta)
        probability("delta", float(level), zero=True)
    by_sum = float(epsilon_sum) if delta_sum <= level < 1 else math.inf
    if len(set(costs)) > 1:
        by_losses = math.inf
    else:
        by_losses = composed_epsilon(worst_pairs(costs), float(level)) if costs else 0.0
    return Spent(len(costs), min(by_sum, by_losses), float(level), epsilon_sum, delta_sum)


def worst_pairs(costs: Sequence[Budget]) -> list[LossPair]:
    """Return, for reports of which only (ε, δ) is known, the pairs that are easiest to distinguish.

    With probability δ the report gives its user away; else it is one bit of randomized response at
    ε. Every (ε, δ)-private report is a post-processing of this (Kairouz, Oh & Viswanath 2015).
    """
    pairs = []
    for cost, copies in Counter(costs).items():
        revealed = float(cost.delta) if cost.epsilon <= MOST_EPSILON else 1.0
        false = (1 - revealed) / (1 + math.exp(min(float(cost.epsilon), MOST_EPSILON)))
        first = np.array([revealed, 1 - revealed - false, false, 0.0])
        pairs.append(LossPair(first, first[::-1].copy(), copies))
    return pairs


def composed_epsilon(pairs: Sequence[LossPair], delta: float) -> float:
    """Return an ε, never too small, at which all ``pairs`` together have at most ``delta``.

    Infinite if a pair is not symmetric: who is who may change from one report to the next.
    """
    # Keep clear of rounding errors; and with δ = 1 nothing is promised.
    level = delta - LEAST_DELTA
    if level <= 0 or delta >= 1 or not all(map(_is_symmetric, pairs)):
        return math.inf
    copies = sum(pair.copies for pair in pairs)
    points = max(_LEAST_POINTS, 2 ** (_GRID_BITS - copies.bit_length()))
    return _inverse(compose(pairs, points=points), level)


def _is_symmetric(pair: LossPair) -> bool:
    """Say whether swapping the two inputs does no more than reorder the outcomes."""
    order, swapped = np.lexsort((pair.first, pair.second)), np.lexsort((pair.second, pair.first))
    one = np.allclose(pair.first[order], pair.second[swapped], rtol=_ROUNDING, atol=_ROUNDING)
    return one and np.allclose(pair.second[order], pair.first[swapped], _ROUNDING, _ROUNDING)


def _inverse(losses: LossDistribution, delta: float) -> float:
    """Return the least ε ≥ 0 with δ(ε) ≤ ``delta``, rounded up; infinite if there is none."""
    if losses.certain > delta:
        return math.inf
    if losses.delta(0.0) <= delta:
        return 0.0
    most = float(losses.losses[-1])
    return bisect(lambda epsilon: losses.delta(epsilon) <= delta, 0.0, most, relative=1e-6)[1]


def _exact(field: str, value: Number) -> Fraction:
    try:
        exact = Fraction(str(value))
        float(exact)
    except (ValueError, ArithmeticError):
        raise InputError(field, value, "a finite number") from None
    return exact
