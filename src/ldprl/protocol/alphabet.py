"""What numbers a report may hold: a client stays within, and a server refuses the rest.

Unbounded noise is cut where its tail is negligible (mass below 10⁻¹⁸ a counter), by the client,
after privatizing: that is post-processing. So one report moves a sum by a known amount at most.
"""

from __future__ import annotations

import itertools
import math
import operator
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ldprl.assignment import Assignment
from ldprl.errors import InputError
from ldprl.mechanisms.bits import BitMechanism
from ldprl.mechanisms.bounded_noise import BoundedNoise
from ldprl.mechanisms.gaussian import Gaussian
from ldprl.mechanisms.laplace import Laplace
from ldprl.mechanisms.mechanism import CountingMechanism, Mechanism
from ldprl.mechanisms.subset_selection import SubsetSelection
from ldprl.shape import Array, IntArray

# e^{−45} < 3·10⁻²⁰; a discrete Gaussian has less than 10⁻³⁰ beyond 12 standard deviations.
_LAPLACE_SCALES = 45
_GAUSSIAN_DEVIATIONS = 12

Values = Sequence[int] | IntArray
"""What a report holds: items, or counters."""


class Alphabet(ABC):
    """The values of one report under one assignment."""

    length: int
    """How many counters a report adds to."""

    @abstractmethod
    def write(self, report: Array) -> list[int]:
        """Return the values to send for a report that a mechanism made."""

    @abstractmethod
    def admit(self, values: Sequence[int]) -> Values:
        """Return ``values`` as :meth:`total` takes them, or refuse them."""

    @abstractmethod
    def total(self, reports: Sequence[Values]) -> IntArray:
        """Return what admitted reports add to the tally."""

    def read(self, values: Sequence[int]) -> IntArray:
        """Return what one report adds to the tally, or refuse it."""
        return self.total([self.admit(values)])


@dataclass(frozen=True, eq=False)
class Counters(Alphabet):
    """One whole number a counter, from ``low`` to ``high``."""

    low: IntArray
    high: IntArray

    @property
    def length(self) -> int:  # type: ignore[override]
        """How many counters there are."""
        return len(self.low)

    def write(self, report: Array) -> list[int]:
        """Return the counters, cut to the range."""
        kept: list[int] = np.clip(report, self.low, self.high).astype(np.int64).tolist()
        return kept

    def admit(self, values: Sequence[int]) -> IntArray:
        """Return the counters as an array, or refuse them."""
        if len(values) != self.length:
            raise InputError("values", f"{len(values)} of them", f"{self.length} whole numbers")
        try:
            counters = np.array(values, dtype=np.int64)
        except OverflowError:
            raise InputError("values", "a number beyond 64 bits", "smaller numbers") from None
        outside = (counters < self.low) | (counters > self.high)
        if outside.any():
            place = int(np.argmax(outside))
            expected = f"a whole number from {self.low[place]} to {self.high[place]}"
            raise InputError(f"values[{place}]", int(counters[place]), expected)
        return counters

    def total(self, reports: Sequence[Values]) -> IntArray:
        """Return the sum, counter by counter."""
        total: IntArray = np.asarray(reports, dtype=np.int64).sum(axis=0)
        return total


@dataclass(frozen=True)
class Subsets(Alphabet):
    """For each question exactly ``size`` of its ``items``, in increasing order.

    Items are numbered through: those of the second question begin where the first one's end.
    """

    parts: tuple[tuple[int, int], ...]
    """(items, size) of each question."""

    @property
    def length(self) -> int:  # type: ignore[override]
        """How many items there are in all."""
        return sum(items for items, _ in self.parts)

    def write(self, report: Array) -> list[int]:
        """Return the items of a report that holds 1 for each of them."""
        told: list[int] = np.flatnonzero(report).tolist()
        return told

    def admit(self, values: Sequence[int]) -> Sequence[int]:
        """Return the items as they are, or refuse them."""
        fits = len(values) == sum(size for _, size in self.parts)
        fits = fits and all(map(operator.lt, values, values[1:]))
        start = place = 0
        for items, size in self.parts:
            fits = fits and start <= values[place] and values[place + size - 1] < start + items
            start, place = start + items, place + size
        if not fits:
            raise InputError("values", list(values)[:10], self._expected())
        return values

    def _expected(self) -> str:
        starts = itertools.accumulate((items for items, _ in self.parts), initial=0)
        each = (
            f"{size} different items from {start} to {start + items - 1}"
            for start, (items, size) in zip(starts, self.parts, strict=False)
        )
        return ", ".join(each) + ", in order"

    def total(self, reports: Sequence[Values]) -> IntArray:
        """Return how many reports tell each item."""
        items = np.fromiter(itertools.chain.from_iterable(reports), dtype=np.int64)
        return np.bincount(items, minlength=self.length).astype(np.int64, copy=False)


def alphabet(mechanism: Mechanism, assignment: Assignment) -> Alphabet:
    """Return what a report of ``mechanism`` under ``assignment`` may hold."""
    if isinstance(mechanism, SubsetSelection):
        return Subsets(tuple((it.items, it.size) for _, it, _ in mechanism.parts(assignment)))
    if isinstance(mechanism, CountingMechanism):
        most = mechanism.layout.steps() * mechanism.layout.units()
        if isinstance(mechanism, BitMechanism):
            return Counters(np.zeros_like(most), mechanism.bits)
        reach = _noise_reach(mechanism)
        return Counters(np.full_like(most, -reach), most + reach)
    raise InputError("mechanism", mechanism.name, "one that a client can draw")


def _noise_reach(mechanism: CountingMechanism) -> int:
    """Return how far noise may take a counter; deployments count rewards in whole units."""
    if isinstance(mechanism, Laplace):
        return math.ceil(_LAPLACE_SCALES * mechanism.scale)
    if isinstance(mechanism, Gaussian):
        return math.ceil(_GAUSSIAN_DEVIATIONS * mechanism.sigma)
    if isinstance(mechanism, BoundedNoise):
        return max(table.radius for table in mechanism.tables.values())
    raise InputError("mechanism", mechanism.name, "one whose noise is known")
