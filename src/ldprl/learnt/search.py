"""Has a search taught anything? From bits of the return under shifted policies alone.

Two questions, each from sums that a service has. Do users earn more than the first ones did? And
how large is the signal: with d parameters, v the variance of a decoded bit and g the gradient of
the mean return, per spread and as a share of the range of returns, the mean of the policies has
moved as far by the signal as by noise after about d·v/‖g‖² users.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
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
"""Users times v of whom the first and the latest mean return are, at least: those of a plan."""
_LATEST = 0.2
"""And the share of all users that the latest are: plans follow each other, and returns rise."""
_SURE = 3.0
"""Standard errors by which the latest return is above the first one before that is said."""
_SHOWS = 2.0
"""Standard errors by which a signal is above 0 before its size is said."""
_NEEDED = 4.0
"""Users over d·v/‖g‖² at which half of what can be gained is gained."""


@dataclass(frozen=True)
class MeanReturn:
    """What users earned on average, with its standard error; ``users`` says how many they were."""

    value: float
    error: float
    users: int


@dataclass(frozen=True)
class Signal:
    """‖g‖² without bias, its standard error, and the users that it is from."""

    square: float
    error: float
    users: int

    @property
    def shows(self) -> bool:
        """Whether it stands out from noise."""
        return self.square > _SHOWS * self.error


def exploring(laws: Iterable[LawSums]) -> list[LawSums]:
    """Return the sums of users whose policies were shifted."""
    return [one for one in laws if one.users and one.law.spread.any()]


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


def signal(mechanism: ThresholdBits, laws: Sequence[LawSums]) -> Signal | None:
    """Return the size of the mean gradient under some laws; None if nobody has reported."""
    users, size = sum(one.users for one in laws), mechanism.problem.size
    if not users:
        return None
    summed = np.zeros(size)
    for one in laws:
        counted, ones, baseline = one.moments[0].astype(np.float64)
        decoded = (ones - mechanism.flip * counted) / mechanism.contrast - baseline / UNIT
        above = (one.ones.sum() - mechanism.flip * one.users) / mechanism.contrast
        expected = float(one.counts @ np.array(one.asked.baseline)) / UNIT
        summed += decoded - (float(above) - expected) / one.users * counted
    noise = mechanism.variance / users
    length = float((summed @ summed) / users**2)
    error = math.sqrt(2 * size * noise**2 + 4 * noise * max(length - size * noise, 0.0))
    return Signal(length - size * noise, error, users)


def users_needed(mechanism: ThresholdBits, found: Signal) -> float:
    """Return about how many users gain half of what can be gained; infinite without a signal."""
    if found.square <= 0:
        return math.inf
    return _NEEDED * mechanism.problem.size * mechanism.variance / found.square


def searched(mechanism: ThresholdBits, sums: Sequence[LawSums]) -> dict[str, Any]:
    """Return whether users earn more than the first ones did, and about how many that takes."""
    laws = exploring(sums)
    users = sum(one.users for one in laws)
    least = _FIRST * mechanism.variance
    first, latest = _first(laws, least), _first(laws[::-1], max(least, _LATEST * users))
    start, now = mean_return(mechanism, first), mean_return(mechanism, latest)
    low, high = mechanism.problem.returns
    found: dict[str, Any] = {
        **_written("", now, low, high),
        **_written("start_", start, low, high),
        "closed": None,
        "significant": False,
        "users_needed": None,
    }
    seen = signal(mechanism, laws)
    if start is None or now is None or seen is None:
        return found | {"said": "Nobody has reported yet."}
    gain, error = now.value - start.value, math.hypot(now.error, start.error)
    apart = len(first) + len(latest) <= len(laws)
    if apart and gain > _SURE * error:
        closed = round((found["value"] - found["start_value"]) / (high - found["start_value"]), 4)
        said = (
            f"Users earn {found['value']:.3g}, the first ones earned {found['start_value']:.3g}: at"
            f" least {closed:.0%} of all that could be gained, as no return is above {high:g}."
        )
        return found | {"closed": closed, "significant": True, "said": said}
    earned = f"Users earn {found['value']:.3g} ± {now.error:.2g}. "
    if not seen.shows:
        largest = max(seen.square, 0.0) + _SHOWS * seen.error
        needed = users_needed(mechanism, replace(seen, square=largest))
        said = f"Nothing learnt yet; at least about {rounded(needed)} users are needed."
        return found | {"said": earned + said}
    needed = users_needed(mechanism, seen)
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
