"""Subset selection: the frequency oracle behind a question (Ye & Barg 2017).

A user holds one of d items and reports w of them: the own item is among them with probability p,
the others fill up at random. With many users, no ε-LDP way to ask for one item of d has a smaller
mean squared error in the worst case. Nothing here is floating point until decoding.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import Decimal, localcontext
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import Any

import numpy as np

from ldprl.accounting.blanket import Blanket, subset_blanket
from ldprl.accounting.loss import LossPair
from ldprl.mechanisms.sampling import RandomSource
from ldprl.shape import Array, FloatArray, IntArray

Number = Fraction | float


@dataclass(frozen=True)
class SubsetOracle:
    """Subset selection over ``items`` items at ``epsilon``, with ``size`` of them in a report.

    The own item is reported iff a 64-bit word lies below ``threshold``, and
    T = ⌊2⁶⁴·w·e^ε/(w·e^ε + d − w)⌋ with e^ε bracketed from below: the ratio of any report's
    probabilities, p(d − w)/((1 − p)w) with p = T/2⁶⁴, never exceeds e^ε.
    """

    items: int
    size: int
    threshold: int

    @cached_property
    def keep(self) -> Fraction:
        """p, the probability that the own item is in the report."""
        return Fraction(self.threshold, 2**64)

    @cached_property
    def chance(self) -> Fraction:
        """The probability that another item is: q = [p(w − 1) + (1 − p)w]/(d − 1)."""
        return (self.keep * (self.size - 1) + (1 - self.keep) * self.size) / (self.items - 1)

    @cached_property
    def ratio(self) -> Fraction:
        """The largest ratio of a report's probabilities under two items, p(d − w)/((1 − p)w)."""
        return self.keep / (1 - self.keep) * Fraction(self.items - self.size, self.size)

    @cached_property
    def contrast(self) -> float:
        """Δ = p − q, what decoding divides by."""
        return float(self.keep - self.chance)

    @property
    def epsilon(self) -> float:
        """The exact ε of this oracle: ln of the largest ratio."""
        return math.log(self.ratio)

    def draw_many(self, item: int, count: int, source: RandomSource) -> IntArray:
        """Return ``count`` independent reports as rows: 1 for the items in it, else 0."""
        kept = source.words(count) < np.uint64(self.threshold)
        reports = np.zeros((count, self.items), dtype=np.int64)
        reports[:, item] = kept
        for own in (True, False):
            rows = np.flatnonzero(kept == own)
            # Floyd's algorithm: every subset of the d − 1 others is equally likely.
            others = self.items - 1
            for last in range(others - (self.size - own), others):
                pick = source.below_many(last + 1, len(rows))
                taken = reports[rows, pick + (pick >= item)] == 1
                pick[taken] = last
                reports[rows, pick + (pick >= item)] = 1
        return reports

    def decode(self, tally: Array, users: int | Array) -> FloatArray:
        """Return unbiased counts of the items, Σ (1{v ∈ Z} − q)/Δ; they sum to ``users``."""
        result: FloatArray = (tally - users * float(self.chance)) / self.contrast
        return result

    def document(self) -> dict[str, Any]:
        """Return the integers that a client draws with; what may exceed 53 bits is text."""
        return {"items": self.items, "size": self.size, "threshold": str(self.threshold)}

    def sample_tally(self, held: IntArray, rng: np.random.Generator) -> IntArray:
        """Draw how often each item is in the reports of users who hold ``held``, exactly."""
        # Compiled code, for simulation: a client that draws one report never loads it.
        from ldprl.kernels.subsets import subset_tally

        return subset_tally(held, self.size, float(self.keep), rng)

    def log_likelihood(self, reports: Array, item: int) -> FloatArray:
        """Return ln P(report | item), up to a constant."""
        shown = math.log(self.keep / self.size)
        hidden = math.log((1 - self.keep) / (self.items - self.size))
        return np.where(np.asarray(reports)[..., item] == 1, shown, hidden)

    def loss_pair(self) -> LossPair:
        """Return the laws of a report under two items.

        Only whether the own item is in the report, and whether the other one is, differs between
        them: both, own alone, other alone, neither.
        """
        d, w, p = self.items, self.size, self.keep
        other = [Fraction(w - 1, d - 1), Fraction(w, d - 1)]
        both, own_only = p * other[0], p * (1 - other[0])
        other_only = (1 - p) * other[1]
        first = [both, own_only, other_only, 1 - both - own_only - other_only]
        second = [both, other_only, own_only, first[3]]
        return LossPair(np.array(first, dtype=np.float64), np.array(second, dtype=np.float64))

    def blanket(self) -> Blanket:
        """Return what a crowd of such reports hides behind."""
        return subset_blanket(self.items, self.size, self.keep)


@lru_cache
def subset_oracle(items: int, epsilon: Fraction, most: int | None = None) -> SubsetOracle:
    """Return the oracle with the report size of least variance, w ≈ d/(e^ε + 1), or ``most``."""
    ideal = items / (math.exp(min(float(epsilon), 700.0)) + 1)
    ideal = ideal if most is None else min(ideal, most)
    sizes = {max(1, math.floor(ideal)), min(items - 1, max(1, math.ceil(ideal)))}
    oracles = [SubsetOracle(items, size, _threshold(items, size, epsilon)) for size in sizes]
    return min(oracles, key=lambda oracle: CellMoments.of(oracle, 1).outside)


def _threshold(items: int, size: int, epsilon: Fraction) -> int:
    with localcontext() as context:
        # Rounding moves the share by less than 10⁻⁹⁷, the bracket by more than 10⁻⁷⁰ of it as long
        # as T < 2⁶⁴ − 1: the floor is never that of a larger e^ε.
        context.prec = 100
        ratio = Decimal(epsilon.numerator) / Decimal(epsilon.denominator)
        odds = ratio.exp() * (1 - Decimal(10) ** -50) * size
        share = odds / (odds + items - size)
        return min(int(share * 2**64), 2**64 - 1)


@dataclass(frozen=True)
class CellMoments:
    """Second moments of F, the decoded count of one report in a cell of ``width`` items.

    ``outside``: E F² where the own item lies elsewhere; ``inside``: E F² where it lies in the
    cell; ``apart``: E FF' of two such cells with the item in neither; ``across``: E FF' with the
    item in the first.
    """

    outside: float
    inside: float
    apart: float
    across: float

    @classmethod
    def of(cls, oracle: SubsetOracle, width: int) -> CellMoments:
        """Add up the moments of the single items, with the exact inclusion probabilities."""
        d, w, p, q = oracle.items, oracle.size, oracle.keep, oracle.chance
        both = q * q  # of two items, no two are others
        if d > 2:
            pairs = p * (w - 1) * (w - 2) + (1 - p) * w * (w - 1)
            both = pairs / ((d - 1) * (d - 2))
        return cls.from_inclusion(p, q, p * Fraction(w - 1, d - 1), both, width)

    @classmethod
    def from_inclusion(
        cls, own: Number, other: Number, own_and_other: Number, two_others: Number, width: int = 1
    ) -> CellMoments:
        """Take the probabilities that items are in a report, alone and two at once.

        With q and p those of another and of the own item, f_v = (1{v ∈ Z} − q)/(p − q).
        """
        square = (own - other) ** 2
        single = other * (1 - other) / square
        of_own = own * (1 - own) / square + 1
        with_own = (own_and_other - own * other) / square
        both = (two_others - other * other) / square
        rest = width - 1
        return cls(
            outside=float(width * single + width * rest * both),
            inside=float(of_own + 2 * rest * with_own + rest * single + rest * (rest - 1) * both),
            apart=float(width * width * both),
            across=float(width * (with_own + rest * both)),
        )
