"""Sums of threshold bits: whole numbers, additive, and apart for each plan.

With z the reported bit of a user, ξ the shift of the user's parameters and s the baseline at the
user's threshold, in 1/2¹⁶, the sums under one law are, for each part of the range of returns, how
many users had their threshold there and how many of them reported 1, and for each parameter

    Σξ, Σzξ, Σsξ, Σ(ξ² − 1), Σz(ξ² − 1), Σs(ξ² − 1).

A learner makes the gradient of the mean return of them, and its curvature.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ldprl.mechanisms.questions.threshold import CELLS, Threshold
from ldprl.policies.perturbed import Perturbed
from ldprl.shape import BoolArray, IntArray

_AT_ONCE = 2**22
"""Shifts that are multiplied at a time: 16 MB of float32."""
_MOST_USERS = 2**14
"""Users whose sums are exact in float32: of at most 2⁸·3 a user, below 2²⁴."""


def tally_length(size: int) -> int:
    """Return the length of the tally of a law of ``size`` parameters."""
    return 2 * CELLS + 6 * size


def tally_of(
    asked: Threshold, shifts: NDArray[np.int8], cells: IntArray, bits: BoolArray
) -> IntArray:
    """Return the tally of users: shifts ξ, of shape (n, d), cells of thresholds, reported bits.

    Moments are products of matrices in float32, with s in two halves: exact, as every sum is a
    whole number below 2²⁴.
    """
    counts = np.bincount(cells, minlength=CELLS)
    ones = np.bincount(cells[bits], minlength=CELLS)
    baseline = np.array(asked.baseline, dtype=np.int64)[cells]
    rows = np.stack([np.ones(len(cells), dtype=np.int64), bits, baseline >> 8, baseline & 255])
    factors = rows.astype(np.float32)
    size = shifts.shape[1]
    moments = np.zeros((2, 4, size), dtype=np.int64)
    step = max(1, min(_MOST_USERS, _AT_ONCE // max(size, 1)))
    for start in range(0, len(cells), step):
        some, part = factors[:, start : start + step], shifts[start : start + step]
        values = part.astype(np.float32)
        moments[0] += (some @ values).astype(np.int64)
        np.multiply(values, values, out=values)
        values -= 1
        moments[1] += (some @ values).astype(np.int64)
    sums = np.stack([moments[:, 0], moments[:, 1], 256 * moments[:, 2] + moments[:, 3]], axis=1)
    return np.concatenate([counts, ones, sums.ravel()])


@dataclass(frozen=True, eq=False)
class LawSums:
    """What the users of one law reported.

    Attributes
    ----------
    law, asked
        The policies that they drew theirs from, and what they were asked: as the plan has it.
    users
        How many they are.
    tally
        Their sums.
    """

    law: Perturbed
    asked: Threshold
    users: int
    tally: IntArray

    @property
    def counts(self) -> IntArray:
        """How many thresholds lie in each of the 256 parts."""
        return self.tally[:CELLS]

    @property
    def ones(self) -> IntArray:
        """How many of these users reported 1."""
        return self.tally[CELLS : 2 * CELLS]

    @property
    def moments(self) -> IntArray:
        """Sums over 1, z and s of ξ, and of ξ² − 1, of shape (2, 3, d)."""
        return self.tally[2 * CELLS :].reshape(2, 3, -1)

    def __add__(self, other: LawSums) -> LawSums:
        users = self.users + other.users
        return replace(self, users=users, tally=self.tally + other.tally)


@dataclass(frozen=True, eq=False)
class ReturnSums:
    """The sums of all laws, in the order of their plans.

    Laws are known by their seeds: sums under the same one are added, so that servers may count
    apart and reports may come late.
    """

    laws: tuple[LawSums, ...] = ()

    @property
    def users(self) -> int:
        """How many users have reported."""
        return sum(one.users for one in self.laws)

    def __add__(self, other: ReturnSums) -> ReturnSums:
        places = {one.law.seed: place for place, one in enumerate(self.laws)}
        result = list(self.laws)
        for one in other.laws:
            place = places.get(one.law.seed)
            if place is None:
                places[one.law.seed] = len(result)
                result.append(one)
            else:
                result[place] = result[place] + one
        return ReturnSums(tuple(result))
