"""Has a policy with parameters learnt, and how many users does it take? From its sums alone."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from statistics import NormalDist

import numpy as np

from ldprl.isotonic import falling
from ldprl.learnt.share import rounded
from ldprl.mechanisms.questions.threshold import CELLS
from ldprl.mechanisms.return_sums import LawSums, ReturnSums
from ldprl.mechanisms.threshold_bits import ThresholdBits
from ldprl.shape import FloatArray

LEVEL = 1e-5
"""Returns have risen if chance alone would look like it with a smaller probability."""
_SURE = NormalDist().inv_cdf(1 - LEVEL)
_FIRST, _LATEST = 0.1, 0.5
"""Shares of the users: the first, who had policies around the start, and the latest."""
_MOST = 3.0
"""Nothing can be said of more than so many times the users so far: the signal is below noise."""


@dataclass(frozen=True)
class PolicyProgress:
    """What the sums say of learning.

    Attributes
    ----------
    users
        How many have reported.
    first_return, latest_return
        The mean return of the first tenth of them, and of the latest half.
    rise
        How much more often the latest had a return above the same threshold, in standard errors.
    significant
        Whether chance would hardly look like it.
    users_needed
        About how many users it takes in all until half of what can be gained is gained; None once
        the rise is significant.
    said
        The same in a sentence.
    """

    users: int
    first_return: float
    latest_return: float
    rise: float
    significant: bool
    users_needed: int | None
    said: str


def policy_progress(mechanism: ThresholdBits, sums: ReturnSums) -> PolicyProgress:
    """Return what users' bits say of how far learning has come.

    Returns are compared threshold by threshold. With n_c and N_c bits of the first and the latest
    users in part c of the range, p_c and P_c the decoded shares above it, and v the variance of a
    decoded bit, the rise is Σ w_c (P_c − p_c)/√(v Σ w_c), w_c = n_c N_c/(n_c + N_c) (Mantel &
    Haenszel 1959). While users learn by a gradient that stays, the return rises as √k, and its
    standard error falls as fast: with k users and a rise of z it takes about k·z*/z until the rise
    is significant, at z*. That is about when users have closed half of the gap, on average: right
    within a factor of 3 on four problems of ``tests/learnt``, from a third of them on. Thresholds
    follow the returns that seemed to be there, which makes the rise smaller, if anything.
    """
    users, (low, high) = sums.users, mechanism.problem.returns
    first, latest = _parts(sums)
    rise = _rise(mechanism, first, latest) if latest else 0.0
    means = [low + (high - low) * _mean(mechanism, part) for part in (first, latest or first)]
    significant = rise > _SURE
    needed = None
    if not significant:
        needed = math.ceil(max(users, 1) * min(_MOST, _SURE / max(rise, 1e-9)))
    found = PolicyProgress(users, means[0], means[1], rise, significant, needed, "")
    return replace(found, said=_said(found, mechanism.epsilon))


def _said(found: PolicyProgress, epsilon: float) -> str:
    earned = f"the latest users earn {found.latest_return:.4g}, the first {found.first_return:.4g}"
    if found.users_needed is None:
        return f"Learning shows: {earned}."
    if found.users_needed >= _MOST * max(found.users, 1):
        return (
            f"Nothing shows yet after {found.users:,} users at ε = {epsilon:g}: at least"
            f" {rounded(found.users_needed)} are needed to close half of the gap."
        )
    return (
        f"Something may show ({earned}): about {rounded(found.users_needed)} users are needed to"
        f" close half of the gap at ε = {epsilon:g}, after {found.users:,} so far."
    )


def _parts(sums: ReturnSums) -> tuple[Sequence[LawSums], Sequence[LawSums]]:
    """Return the plans of the first users, and those of the latest."""
    laws = [one for one in sums.laws if one.users]
    ends = np.cumsum([one.users for one in laws])
    if not laws:
        return [], []
    early = max(1, int(np.searchsorted(ends, _FIRST * ends[-1], side="right")))
    late = max(early, int(np.searchsorted(ends, (1 - _LATEST) * ends[-1], side="right")))
    return laws[:early], laws[late:]


def _counts(mechanism: ThresholdBits, laws: Sequence[LawSums]) -> tuple[FloatArray, FloatArray]:
    """Return how many had a threshold in each part of the range, and the share decoded above it."""
    counts = np.array([one.counts for one in laws], dtype=np.float64).sum(axis=0)
    ones = np.array([one.ones for one in laws], dtype=np.float64).sum(axis=0)
    above = (ones - mechanism.flip * counts) / mechanism.contrast
    return counts, above / np.maximum(counts, 1)


def _rise(mechanism: ThresholdBits, first: Sequence[LawSums], latest: Sequence[LawSums]) -> float:
    (n, p), (m, q) = _counts(mechanism, first), _counts(mechanism, latest)
    weights = n * m / np.maximum(n + m, 1)
    noise = math.sqrt(mechanism.variance * float(weights.sum()))
    return float(weights @ (q - p)) / noise if noise else 0.0


def _mean(mechanism: ThresholdBits, laws: Sequence[LawSums]) -> float:
    """Return the mean return as a share of the range: the area below the shares above."""
    if not laws:
        return 0.5
    counts, shares = _counts(mechanism, laws)
    seen = np.flatnonzero(counts)
    fitted = np.clip(falling(shares[seen], counts[seen]), 0, 1)
    return float(np.interp(np.arange(CELLS), seen, fitted).mean())
