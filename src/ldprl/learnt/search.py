"""Has a search taught anything? From bits of the return under shifted policies alone.

Do users earn more than the first ones did? And if that is not certain yet: about when will it be,
which is about when half of what can be gained is gained.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import Any

import numpy as np

from ldprl.learnt.share import rounded
from ldprl.mechanisms.questions.returns import UNIT
from ldprl.mechanisms.questions.threshold import CELLS
from ldprl.mechanisms.return_sums import LawSums
from ldprl.mechanisms.threshold_bits import ThresholdBits
from ldprl.policies.perturbed import WIDE_SHARE
from ldprl.shape import FloatArray

_FIRST = 200.0
"""Users times v of whom the mean returns that are shown are, at least: those of a plan."""
_NEWEST = 0.2
"""And the share of all users that the newest are: plans follow each other, and returns rise."""
_EARLY, _LATE = 0.1, 0.5
"""Shares of the users whose bits are compared: the first had policies around the start."""
LEVEL = 1e-4
"""Returns have risen if chance alone would look like it with a smaller probability."""
_SURE = NormalDist().inv_cdf(1 - LEVEL)
_MOST = 3.0
"""Nothing can be said of more than so many times the users so far: the rise is below noise."""


@dataclass(frozen=True)
class MeanReturn:
    """What users earned on average, with its standard error; ``users`` says how many they were."""

    value: float
    error: float
    users: int


def exploring(laws: Iterable[LawSums]) -> list[LawSums]:
    """Return the sums of users whose policies were shifted."""
    return [one for one in laws if one.users and not one.law.is_one]


def mean_return(mechanism: ThresholdBits, laws: Sequence[LawSums]) -> MeanReturn | None:
    """Return what the users of some laws earned on average; None if there are none.

    Without bias whatever the baseline s was: the mean over users of s̄ + (bit − s(u))/(256·p(u)),
    with p(u) the probability that a threshold lies in the part of u.
    """
    users = sum(one.users for one in laws)
    if not users:
        return None
    total, square = 0.0, 0.0
    for one in laws:
        baseline = np.array(one.asked.baseline) / UNIT
        above = (one.ones - mechanism.flip * one.counts) / mechanism.contrast
        chances = _chances(one)
        beyond = (above - one.counts * baseline) / chances
        total += one.users * float(baseline.mean()) + float(beyond.sum())
        # Of the users in a part each scatters by v at most.
        square += float((one.counts / chances**2).sum()) * mechanism.variance_of(one)
    low, high = mechanism.problem.returns
    value = low + (high - low) * total / users
    return MeanReturn(value, (high - low) * math.sqrt(square) / users, users)


def _chances(one: LawSums) -> FloatArray:
    """Return 256 times the probability that a threshold lies in each of the 256 parts."""
    edges = np.arange(CELLS + 1) * (UNIT // CELLS)
    cut = np.clip(edges, one.asked.low, one.asked.high).astype(np.float64)
    narrow = np.diff(cut) / (one.asked.high - one.asked.low)
    result: FloatArray = WIDE_SHARE + (1 - WIDE_SHARE) * CELLS * narrow
    return result


def rise(mechanism: ThresholdBits, laws: Sequence[LawSums]) -> float:
    """Return how much more often the latest users had a return above the same threshold.

    In standard errors. With n_c and N_c bits of the first tenth and the latest half of the users
    in part c of the range, p_c and P_c the decoded shares above it, v the variance of a decoded bit
    and w_c = n_c N_c/(n_c + N_c), that is Σ w_c (P_c − p_c)/√(v Σ w_c) (Mantel & Haenszel 1959).
    Thresholds go to where the first users seemed to have returns: it is too small, if anything.
    """
    ends = np.cumsum([one.users for one in laws])
    if len(laws) < 2:
        return 0.0
    early = max(1, int(np.searchsorted(ends, _EARLY * ends[-1], side="right")))
    late = max(early, int(np.searchsorted(ends, (1 - _LATE) * ends[-1], side="right")))
    (n, p), (m, q) = _shares(mechanism, laws[:early]), _shares(mechanism, laws[late:])
    weights = n * m / np.maximum(n + m, 1)
    noise = math.sqrt(mechanism.variance * float(weights.sum()))
    return float(weights @ (q - p)) / noise if noise else 0.0


def _shares(mechanism: ThresholdBits, laws: Sequence[LawSums]) -> tuple[FloatArray, FloatArray]:
    """Return how many had a threshold in each part of the range, and the share decoded above it."""
    counts = np.array([one.counts for one in laws], dtype=np.float64).sum(axis=0)
    ones = np.array([one.ones for one in laws], dtype=np.float64).sum(axis=0)
    above = (ones - mechanism.flip * counts) / mechanism.contrast
    return counts, above / np.maximum(counts, 1)


def users_needed(users: int, risen: float) -> float:
    """Return about how many users it takes in all until the rise is certain.

    The return rises as √k while a gradient stays, and its standard error falls as fast: after k
    users and a rise of z that is k·z*/z, at most 3k as long as the rise is noise. It is about when
    users have half of the gain, too: right within a factor of 3 on four problems of control, from a
    third of these users on (``tests/learnt/test_rise.py``). Where the gap is a tenth of the range,
    as in bandits, the first users are too few to be compared with, and it says too many.
    """
    return users * min(_MOST, _SURE / max(risen, 1e-9))


def searched(mechanism: ThresholdBits, sums: Sequence[LawSums]) -> dict[str, Any]:
    """Return whether users earn more than the first ones did, and about how many that takes."""
    laws = exploring(sums)
    users = sum(one.users for one in laws)
    least = _FIRST * mechanism.variance
    first, latest = _first(laws, least), _first(laws[::-1], max(least, _NEWEST * users))
    start, now = mean_return(mechanism, first), mean_return(mechanism, latest)
    low, high = mechanism.problem.returns
    found: dict[str, Any] = {
        **_written("", now, low, high),
        **_written("start_", start, low, high),
        "closed": None,
        "significant": False,
        "users_needed": None,
    }
    if now is None:
        return found | {"said": "Nobody has reported yet."}
    risen = rise(mechanism, laws)
    if risen > _SURE:
        closed = round((found["value"] - found["start_value"]) / (high - found["start_value"]), 4)
        said = (
            f"Users earn {found['value']:.3g}, the first ones earned {found['start_value']:.3g}: at"
            f" least {closed:.0%} of all that could be gained, as no return is above {high:g}."
        )
        return found | {"closed": closed, "significant": True, "said": said}
    earned = f"Users earn {found['value']:.3g} ± {now.error:.2g}. "
    needed = users_needed(users, risen)
    if needed >= _MOST * users:
        said = f"Nothing learnt yet; at least about {rounded(needed)} users are needed."
        return found | {"said": earned + said}
    said = f"Nothing certain yet; about {rounded(needed)} users are needed for half of the gain."
    return found | {"users_needed": round(needed), "said": earned + said}


def _first(laws: Sequence[LawSums], least: float) -> list[LawSums]:
    """Return the first laws that have at least so many users together."""
    users = 0
    for place, one in enumerate(laws, 1):
        users += one.users
        if users >= least:
            return list(laws[:place])
    return list(laws)


def _written(of: str, seen: MeanReturn | None, low: float, high: float) -> dict[str, Any]:
    """Return a mean return, cut to the range, and its error, with four digits that count."""
    if seen is None:
        return {f"{of}value": None, f"{of}error": None}
    value = min(max(seen.value, low), high)
    return {f"{of}value": float(f"{value:.4g}"), f"{of}error": float(f"{seen.error:.4g}")}
