"""From hits to certainty: Clopper–Pearson bounds, and what they say about ε and δ."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from ldprl.accounting.loss import LossDistribution
from ldprl.bisection import bisect
from ldprl.shape import FloatArray

_LARGEST = 700.0
"""Beyond that e^ε is no float. No rate that was measured is between 0 and e^−700."""

FAILURE = 1e-6
"""Each bound on ε or δ fails with at most this probability, whatever the mechanism does."""


def rate_at_least(hits: ArrayLike, trials: int, failure: float = FAILURE / 2) -> FloatArray:
    """Return the Clopper–Pearson lower bound on a rate."""
    k = np.asarray(hits, dtype=np.float64)
    some = np.maximum(k, 1e-300)
    return np.where(k > 0, special.betaincinv(some, trials - k + 1, failure), 0.0)


def rate_at_most(hits: ArrayLike, trials: int, failure: float = FAILURE / 2) -> FloatArray:
    """Return the Clopper–Pearson upper bound on a rate."""
    k = np.asarray(hits, dtype=np.float64)
    rest = np.maximum(trials - k, 1e-300)
    return np.where(k < trials, special.betainccinv(k + 1, rest, failure), 1.0)


class Goal(Protocol):
    """Which number of the claim an attacker wants to bound from below."""

    def of_rates(self, first: FloatArray, second: FloatArray) -> FloatArray:
        """Return the bound from a region's least rate under one user, most under the other."""

    def of_losses(self, losses: LossDistribution) -> float:
        """Return the bound from losses that are certified to be no smaller."""


@dataclass(frozen=True)
class LeastEpsilon:
    """The least ε that goes with the claimed ``delta``: ln((p − δ)/q)."""

    delta: float

    def of_rates(self, first: FloatArray, second: FloatArray) -> FloatArray:
        """Return ln((p − δ)/q), −∞ where p does not exceed δ."""
        with np.errstate(divide="ignore"):
            return np.log(np.maximum(first - self.delta, 0.0)) - np.log(second)

    def of_losses(self, losses: LossDistribution) -> float:
        """Return the ε at which δ(ε) falls to the claimed δ."""
        if losses.delta(0.0) <= self.delta:
            return 0.0
        most = float(losses.losses.max(initial=0.0))
        return bisect(lambda at: losses.delta(at) <= self.delta, 0.0, most, relative=1e-6)[0]


@dataclass(frozen=True)
class LeastDelta:
    """The least δ that goes with the claimed ``epsilon``: p − e^ε q."""

    epsilon: float

    def of_rates(self, first: FloatArray, second: FloatArray) -> FloatArray:
        """Return p − e^ε q."""
        return first - math.exp(min(self.epsilon, _LARGEST)) * second

    def of_losses(self, losses: LossDistribution) -> float:
        """Return δ(ε)."""
        return losses.delta(self.epsilon)
