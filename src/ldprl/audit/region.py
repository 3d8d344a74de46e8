"""A set of reports that one user makes more often than another: above a threshold of a score."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ldprl.accounting.profile import PrivacyProfile
from ldprl.audit.bound import Goal, rate_at_least, rate_at_most
from ldprl.audit.reports import Reports
from ldprl.shape import Array, FloatArray

_THRESHOLDS = 1000
"""Thresholds that are tried, log-spaced in rank: with 10⁵ reports neighbours differ by 1.2%."""


@dataclass(frozen=True)
class Region:
    """Reports whose score is at least ``threshold``; at most minus that for a ``swapped`` one.

    A swapped region is meant to hold more of the second user's reports than of the first's.
    """

    threshold: float
    swapped: bool

    def certify(self, first: Array, second: Array, goal: Goal) -> float:
        """Return the bound that these scores of either user's reports certify."""
        wanted, other = (-second, -first) if self.swapped else (first, second)
        hits = [(scores >= self.threshold).sum() for scores in (wanted, other)]
        return float(_bound(hits[0], hits[1], len(first), goal))

    def most(self, trials: int, goal: Goal) -> float:
        """Return the bound if all scores of one user, and none of the other's, were in it."""
        return float(_bound(np.array(trials), np.array(0), trials, goal))


@dataclass(frozen=True)
class ScoreAttack:
    """Looks for the best region of a score that is high for the first user's reports."""

    evidence: Callable[[Reports], FloatArray]

    def plan(self, first: Array, second: Array, goal: Goal) -> tuple[float, Region]:
        """Return what the best region of these scores promises, and that region."""
        promises = []
        for swapped in (False, True):
            scores = (-second, -first) if swapped else (first, second)
            wanted, other = map(np.sort, scores)
            trials = len(wanted)
            ranks = np.geomspace(1, trials, _THRESHOLDS).astype(np.int64)
            thresholds = np.unique(wanted[trials - ranks])
            hits = [trials - np.searchsorted(side, thresholds) for side in (wanted, other)]
            bounds = _bound(hits[0], hits[1], trials, goal)
            best = int(np.argmax(bounds))
            promises.append((float(bounds[best]), Region(float(thresholds[best]), swapped)))
        return max(promises, key=lambda promise: promise[0])


def best_possible(profile: PrivacyProfile, goal: Goal, trials: int) -> float:
    """Return what the best region can expect to certify: likelihood ratio, best threshold.

    Hits are taken at their expectation under the exact losses of the worst pair.
    """
    best = -math.inf
    for losses in profile.upper:
        # Where the loss is negative a report speaks for the other user: no region needs it.
        speaks = losses.losses >= 0
        mass = losses.mass[speaks][::-1]
        first = np.append(losses.certain, losses.certain + np.cumsum(mass))
        second = np.append(0.0, np.cumsum(mass * np.exp(-losses.losses[speaks][::-1])))
        ranks = np.searchsorted(first, np.geomspace(1 / trials, 1.0, _THRESHOLDS))
        ranks = np.unique(np.minimum(ranks, len(first) - 1))
        hits = np.minimum(first[ranks], 1.0) * trials, second[ranks] * trials
        best = max(best, float(_bound(*hits, trials, goal).max()))
    return best


def _bound(first: Array, second: Array, trials: int, goal: Goal) -> FloatArray:
    return goal.of_rates(rate_at_least(first, trials), rate_at_most(second, trials))
