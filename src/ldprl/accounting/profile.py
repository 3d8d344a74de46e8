"""The privacy profile δ(ε) of a mechanism as built, over its worst pair of trajectories.

Why one pair is enough
----------------------
Write δ(P‖Q) = Σ (P − e^ε Q)⁺ for two laws of a report; the profile is its maximum over all pairs of
trajectories, the empty one among them.

*Rounded rewards.* A fractional reward is rounded at random, independently of the noise, so a
report's law is a mixture Σ λᵢPᵢ of laws of whole counters. δ is jointly convex, hence
δ(Σ λᵢPᵢ ‖ Σ μⱼQⱼ) ≤ Σ λᵢμⱼ δ(Pᵢ‖Qⱼ) ≤ max δ(Pᵢ‖Qⱼ): rewards 0 and 1 are the worst.

*Additive noise.* Counters are independent given the trajectory. For log-concave noise, shifting one
counter by a + b is at least as visible as shifting two by a and b, and a larger shift more visible
than a smaller one of the same sign (:mod:`ldprl.mechanisms.sensitivity`). Within a block the rises
of any pair sum to at most the block's range, and so do the falls; gathering each in one counter
gives the pair of users who stay in two different (s, a) with reward 1.

*Randomized bits.* Bits are independent and each costs the same, so only the number of bits that
differ matters; the same pair has the most.

*The empty trajectory.* Its counters are zero: against any other there are rises and no falls, a
part of the shifts above. It is the worst partner only where there is a single (s, a).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cached_property

import numpy as np

from ldprl.accounting.loss import LossDistribution, LossPair, compose
from ldprl.bisection import bisect
from ldprl.errors import InputError, probability, real

_POINTS = 2**16
"""Points in the grid of losses: the gap between the bounds falls with more."""
_ROUNDING = 1e-12
"""Relative rounding error of a sum of losses."""
_LOWER = 32
"""How many smaller ε a chance is bounded from. They lie closer to ε itself, and the bound is within
2% of the least one where δ falls as fast as e^{−20ε}."""


def chance_beyond(delta: Callable[[float], float], epsilon: float) -> float:
    """Return a bound on the chance that a report changes the odds by more than e^ε.

    ``delta`` is a profile, and (ε, δ) alone does not say it: δ counts by how much a loss exceeds ε.
    For L = ln(P/Q) and any ε' < ε

        δ(ε') ≥ Σ_{L > ε} (P − e^{ε'}·Q) ≥ P(L > ε)·(1 − e^{ε' − ε}),

    so P(L > ε) is at most δ(ε')/(1 − e^{ε' − ε}), for every pair of users for whom δ holds.
    """
    if epsilon <= 0:
        return 1.0
    lower = epsilon * (1 - (np.arange(1, _LOWER + 1) / _LOWER) ** 2)
    bounds = [delta(float(one)) / -np.expm1(one - epsilon) for one in lower]
    return float(min(1.0, *bounds))


class PrivacyProfile:
    """δ as a function of ε: a proven upper bound, with its gap to a lower bound.

    Both come from the losses of the worst pair: rounded so that the two users are a little too easy
    to distinguish, and so that they are a little too hard to. Either user may be the first.

    Parameters
    ----------
    pairs
        Independent observations of the worst pair of trajectories.

    Attributes
    ----------
    pure
        The ε from which on δ is 0: the largest loss, infinite if it has no bound.
    """

    def __init__(self, pairs: Sequence[LossPair]) -> None:
        self.orders = _orders(pairs)
        self.pure = max(map(_largest_loss, self.orders))

    def delta(self, epsilon: float) -> float:
        """Return δ(ε), never too small."""
        _not_negative(epsilon)
        if epsilon >= self.pure:
            return 0.0
        return max(losses.delta(epsilon) for losses in self.upper)

    def gap(self, epsilon: float) -> float:
        """Return by how much ``delta(epsilon)`` can be too large, apart from rounding of 1e-12."""
        _not_negative(epsilon)
        if epsilon >= self.pure:
            return 0.0
        lower = max(losses.delta(epsilon) for losses in self._lower)
        return max(0.0, self.delta(epsilon) - lower)

    def epsilon(self, delta: float) -> float:
        """Return the least ε with δ(ε) ≤ ``delta``, never too small; infinite if there is none."""
        probability("delta", delta, zero=True, one=True)
        if self.delta(0.0) <= delta:
            return 0.0
        if max(losses.certain for losses in self.upper) > delta:
            return self.pure
        low, high = 0.0, min(self.pure, 1.0)
        while self.delta(high) > delta:
            low, high = high, min(self.pure, 2 * high)
        return bisect(lambda epsilon: self.delta(epsilon) <= delta, low, high, relative=1e-9)[1]

    @cached_property
    def upper(self) -> list[LossDistribution]:
        """Losses of one user against the other, in both orders unless they are equal."""
        return [compose(pairs, points=_POINTS) for pairs in self.orders]

    @cached_property
    def _lower(self) -> list[LossDistribution]:
        return [compose(pairs, lower=True, points=_POINTS) for pairs in self.orders]


def _largest_loss(pairs: Sequence[LossPair]) -> float:
    """Return the ε above which δ = 0, up to the last digits of a float."""
    total = 0.0
    for pair in pairs:
        possible = pair.first > 0
        with np.errstate(divide="ignore"):
            losses = np.log(pair.first[possible]) - np.log(pair.second[possible])
        total += pair.copies * (float(losses.max()) + pair.slack)
    return total * (1 - _ROUNDING)


def _orders(pairs: Sequence[LossPair]) -> list[Sequence[LossPair]]:
    """Return the pairs and, unless they are mirror images, the pairs with the users swapped."""
    if all(np.array_equal(pair.first, pair.second[::-1]) for pair in pairs):
        return [pairs]
    return [pairs, [replace(pair, first=pair.second, second=pair.first) for pair in pairs]]


def _not_negative(epsilon: float) -> None:
    if real("epsilon", epsilon, "a finite number ≥ 0") < 0:
        raise InputError("epsilon", epsilon, "a finite number ≥ 0")
