"""A bit of the return against a public threshold, drawn with the user's own policy."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ldprl.errors import InputError, instance_of, whole_number
from ldprl.mechanisms.questions.returns import UNIT
from ldprl.policies.perturbed import Perturbed
from ldprl.policies.policy import Policy, PolicyDistribution
from ldprl.query import Query
from ldprl.shape import BoolArray, FloatArray, IntArray

if TYPE_CHECKING:
    from ldprl.assignment import Assignment
    from ldprl.problem import Problem

CELLS = 256
"""Into how many equal parts the range of returns is cut, for where returns lie."""
_KEYS = {"kind", "low", "high", "baseline", "own"}
Words = NDArray[np.uint32]


@dataclass(frozen=True)
class Threshold(Query):
    """Is the return R above the user's threshold u? Both are shares of the range of returns.

    u is public, and follows from the law of the policies and the user's number (see
    :meth:`~ldprl.policies.perturbed.Perturbed.public_words`): with the 32-bit word r,

        u = (a + (b − a)·r/2³²)/2¹⁶,

    where a, b are ``low`` and ``high``, and 0 and 2¹⁶ for a tenth of the users, the wide ones. All
    of it is exact in float64. The bit is 1{(R − least)/(most − least) > u}, with R cut to the range
    from ``least`` to ``most``: one subtraction and one division in float64, the same in every
    language.

    Attributes
    ----------
    low, high
        Where thresholds lie, in 1/2¹⁶ of the range of returns.
    baseline
        For each of 256 equal parts of the range, which share of the returns the service takes to be
        above it, in 1/2¹⁶: none above the one before. Fixed before the user answers.
    own
        The word r of the user who drew a number, and whether their threshold is a wide one; None
        in a plan.
    """

    low: int
    high: int
    baseline: tuple[int, ...]
    own: tuple[int, bool] | None = None

    step = 0
    kind = "threshold"
    items = 2

    @classmethod
    def of_worth(cls) -> Threshold:
        """Return the question whose bit is 1 with probability R, as a share of the range."""
        return cls(0, UNIT, (UNIT // 2,) * CELLS)

    def check(self, field: str, assignment: Assignment, problem: Problem) -> None:
        """Refuse an empty range, a baseline that rises, and policies without public words."""
        self._check(field)
        if self.own is not None:
            raise InputError(f"{field}.own", self.own, "none in a plan: it is the user's")
        if not isinstance(assignment.policies, Perturbed):
            given = type(assignment.policies).__name__
            raise InputError(f"{field}.kind", given, "a law of shifted parameters with thresholds")

    def check_received(self, field: str, policies: Policy | PolicyDistribution) -> None:
        """Refuse a threshold that does not follow from the law and the user's number."""
        if isinstance(policies, PolicyDistribution) and self.own is not None:
            expected = "none under a law: it follows from that"
            raise InputError(f"{field}.own", self.own, expected)
        if not isinstance(policies, PolicyDistribution) and self.own is None:
            expected = "a word, and whether the threshold is wide"
            raise InputError(f"{field}.own", self.own, expected)

    def _check(self, field: str) -> None:
        whole_number(f"{field}.low", self.low, 0, UNIT - 1)
        whole_number(f"{field}.high", self.high, self.low + 1, UNIT)
        shares = self.baseline
        fits = isinstance(shares, tuple) and len(shares) == CELLS
        fits = fits and all(type(share) is int and 0 <= share <= UNIT for share in shares)
        if self.own is not None:
            word, wide = self.own
            whole_number(f"{field}.own", word, 0, 2**32 - 1)
            instance_of(f"{field}.own", wide, bool)
        if not fits or any(late > early for early, late in pairwise(shares)):
            expected = f"{CELLS} whole numbers from {UNIT} to 0, none above the one before"
            raise InputError(f"{field}.baseline", str(shares)[:80], expected)

    def drawn(self, law: PolicyDistribution, number: int) -> Threshold:
        """Return the question with the threshold of the user who drew ``number``."""
        self.check_received("questions", law)
        words, wide = instance_of("law", law, Perturbed).public_words([number])
        return replace(self, own=(int(words[0]), bool(wide[0])))

    def bounds(self, wide: BoolArray) -> tuple[IntArray, IntArray]:
        """Return a and b of users whose threshold is wide or not."""
        low, high = np.where(wide, 0, self.low), np.where(wide, UNIT, self.high)
        return low.astype(np.int64), high.astype(np.int64)

    def thresholds(self, words: Words, wide: BoolArray) -> FloatArray:
        """Return u of each user."""
        low, high = self.bounds(wide)
        result: FloatArray = (low + (high - low) * (words / 2.0**32)) / UNIT
        return result

    def cells(self, words: Words, wide: BoolArray) -> IntArray:
        """Return in which of the 256 parts u lies."""
        low, high = self.bounds(wide)
        found: IntArray = ((low << 32) + (high - low) * words.astype(np.int64)) >> 40
        return found

    def document(self) -> dict[str, Any]:
        """Return the range and the baseline, and what is the user's own once it is drawn."""
        shown = {"low": self.low, "high": self.high, "baseline": list(self.baseline)}
        own = {} if self.own is None else {"own": list(self.own)}
        return {"kind": self.kind} | shown | own

    @classmethod
    def from_document(cls, field: str, document: object) -> Threshold:
        """Read what :meth:`document` wrote, or refuse it."""
        if not isinstance(document, Mapping) or document.get("kind") != "threshold":
            raise InputError(f"{field}.kind", document, "threshold")
        if unknown := sorted(set(document) - _KEYS):
            raise InputError(f"{field}.{unknown[0]}", document[unknown[0]], "no such key")
        shares = document.get("baseline")
        if not isinstance(shares, list) or len(shares) != CELLS:
            raise InputError(f"{field}.baseline", str(shares)[:80], f"a list of {CELLS}")
        own = document.get("own")
        if own is not None and (not isinstance(own, list) or len(own) != 2):
            raise InputError(f"{field}.own", own, "a word, and whether the threshold is wide")
        drawn = None if own is None else (own[0], own[1])
        read = cls(document.get("low", -1), document.get("high", -1), tuple(shares), drawn)
        read._check(field)
        return read
