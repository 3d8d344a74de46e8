"""The privacy profile δ(ε) of a mechanism as built, over its worst pair of trajectories.

Why one pair is enough
----------------------
Write δ(P‖Q) = Σ (P − e^ε Q)⁺ for two laws of a report; the profile is its maximum over all pairs of
trajectories, the empty one among them.

*Rounded rewards.* A fractional reward is rounded at random, independently of the noise, so a
report's law is a mixture Σ λᵢPᵢ of laws of whole counters. δ is jointly convex, hence
δ(Σ λᵢPᵢ ‖ Σ μⱼQⱼ) ≤ Σ λᵢμⱼ δ(Pᵢ‖Qⱼ) ≤ max δ(Pᵢ‖Qⱼ): rewards 0 and 1 are the worst.

*Additive noise.* Counters are independent given the trajectory. For log-concave noise, shifting one
counter by a + b is told at least as well as shifting two by a and b, and a larger shift better than
a smaller one of the same sign (:mod:`ldprl.privacy.sensitivity`). Within a block the rises of any
pair sum to at most the block's range, and so do the falls; gathering each in one counter gives
the pair of users who stay in two different (s, a) with reward 1.

*Randomized bits.* Bits are independent and each costs the same, so only the number of bits that
differ matters; the same pair has the most.

*The empty trajectory.* Its counters are zero: against any other there are rises and no falls, a part
of the shifts above. It is the worst partner only where there is a single (s, a).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property

from ldprl.errors import InputError, probability, real
from ldprl.privacy.accounting import LossDistribution, LossPair, compose

_POINTS = 2**16


class PrivacyProfile:
    """δ as a function of ε: a proven upper bound, with its gap to a lower bound.

    Both come from the losses of the worst pair: rounded so that it is told apart a little too
    well, and rounded so that it is told apart a little too badly. Either user may be the first.

    Parameters
    ----------
    pairs
        Independent observations that together tell the worst pair of trajectories apart.
    pure
        An ε at which δ = 0 is proven, if there is one.
    """

    def __init__(self, pairs: Sequence[LossPair], pure: float = math.inf) -> None:
        self.pairs = tuple(pairs)
        self.pure = pure

    def delta(self, epsilon: float) -> float:
        """Return δ(ε), never too small."""
        _not_negative(epsilon)
        if epsilon >= self.pure:
            return 0.0
        return max(losses.delta(epsilon) for losses in self.upper)

    def gap(self, epsilon: float) -> float:
        """Return by how much ``delta(epsilon)`` can be too large."""
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
        while high - low > 1e-9 * high:
            middle = (low + high) / 2
            if self.delta(middle) <= delta:
                high = middle
            else:
                low = middle
        return high

    @cached_property
    def upper(self) -> tuple[LossDistribution, LossDistribution]:
        """Losses of the first user against the second and of the second against the first."""
        return compose(self.pairs, points=_POINTS), compose(_swapped(self.pairs), points=_POINTS)

    @cached_property
    def _lower(self) -> tuple[LossDistribution, LossDistribution]:
        return (
            compose(self.pairs, lower=True, points=_POINTS),
            compose(_swapped(self.pairs), lower=True, points=_POINTS),
        )


def _swapped(pairs: Sequence[LossPair]) -> list[LossPair]:
    return [replace(pair, first=pair.second, second=pair.first) for pair in pairs]


def _not_negative(epsilon: float) -> None:
    if real("epsilon", epsilon, "a finite number ≥ 0") < 0:
        raise InputError("epsilon", epsilon, "a finite number ≥ 0")
