"""What numbers a report may hold, and what reports add to the tally of their assignment.

A client stays within, and a server refuses the rest. Unbounded noise is cut where its tail is
negligible (mass below 10⁻¹⁸ a counter), by the client, after privatizing: that is post-processing.
So one report moves a sum by a known amount at most.

Under a law of tables a tally keeps apart the answers of users who were given different actions: by
(s, a), whatever the number of tables, never by table.
"""

from __future__ import annotations

import functools
import itertools
import operator
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ldprl.errors import InputError
from ldprl.layout import Layout
from ldprl.policies.tables import TableDistribution
from ldprl.shape import Array, FloatArray, IntArray

if TYPE_CHECKING:
    from ldprl.mechanisms.questions.question import Question

Values = Sequence[int] | IntArray
"""What a report holds: items, or counters."""
_AT_ONCE = 256
"""How many tables are in memory at a time while reports are added up."""


class Adder(ABC):
    """Adds up reports under one assignment."""

    length: int
    """How many counters a report adds to: the length of the tally."""

    rows: int = 0
    """How many rows of the user's table are drawn to add a report, where there is a law."""

    @abstractmethod
    def total(self, reports: Sequence[Values], tables: Sequence[int] = ()) -> IntArray:
        """Return what admitted reports add to the tally; a law needs their tables' numbers."""

    def drawn(self, values: Values, table: int) -> tuple[Adder, Values]:
        """Draw the user's table: return what adds the report from then on, and what it adds."""
        return self, values


class ReportCodec(Adder):
    """The values of one report under one assignment."""

    @abstractmethod
    def write(self, report: Array) -> list[int]:
        """Return the values to send for a report that a mechanism made."""

    @abstractmethod
    def admit(self, values: Sequence[int]) -> Values:
        """Return ``values`` as :meth:`total` takes them, or refuse them."""

    @abstractmethod
    def longest(self) -> list[int]:
        """Return values whose decimal digits take as much room as any report's."""

    def read(self, values: Sequence[int], table: int = 0) -> IntArray:
        """Return what one report adds to the tally, or refuse it."""
        return self.total([self.admit(values)], [table])

    def blank(self, users: int) -> FloatArray:
        """Return the expected tally of ``users`` reports, all of whose values are left out."""
        return np.zeros(self.length)


@dataclass(frozen=True, eq=False)
class Counters(ReportCodec):
    """One whole number for each counter, from ``low`` to ``high``."""

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

    def longest(self) -> list[int]:
        """Return the longer one of each counter's ends."""
        ends = zip(self.low.tolist(), self.high.tolist(), strict=True)
        return [max(low, high, key=lambda end: len(str(end))) for low, high in ends]

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

    def total(self, reports: Sequence[Values], tables: Sequence[int] = ()) -> IntArray:
        """Return the sum, counter by counter."""
        total: IntArray = np.asarray(reports, dtype=np.int64).sum(axis=0)
        return total


@dataclass(frozen=True)
class Subsets(ReportCodec):
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
        items: list[int] = np.flatnonzero(report).tolist()
        return items

    def longest(self) -> list[int]:
        """Return the last item of each question, as often as it reports one."""
        ends = itertools.accumulate(items for items, _ in self.parts)
        return [end - 1 for end, (_, w) in zip(ends, self.parts, strict=True) for _ in range(w)]

    @functools.cached_property
    def _size(self) -> int:
        return sum(size for _, size in self.parts)

    def admit(self, values: Sequence[int]) -> Sequence[int]:
        """Return the items as they are, or refuse them."""
        fits = len(values) == self._size
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

    def total(self, reports: Sequence[Values], tables: Sequence[int] = ()) -> IntArray:
        """Return how many reports name each item."""
        items = np.fromiter(itertools.chain.from_iterable(reports), dtype=np.int64)
        return np.bincount(items, minlength=self.length).astype(np.int64, copy=False)


@dataclass(frozen=True, eq=False)
class CountersByTable(Counters):
    """Counters under a law of tables: each report adds the cells that its table can visit.

    Behind the counters the tally has the number of reports that each (model, s, a) was added from.
    """

    layout: Layout
    law: TableDistribution

    @property
    def length(self) -> int:  # type: ignore[override]
        """Counters, and cells."""
        return self.layout.length + self.layout.shape.cells

    def admit(self, values: Sequence[int]) -> IntArray:
        """Return the counters as an array, or refuse them."""
        return Counters(self.low, self.high).admit(values)

    def total(self, reports: Sequence[Values], tables: Sequence[int] = ()) -> IntArray:
        """Return the sum of the visitable counters, and how often each cell was visitable."""
        result = np.zeros(self.length, dtype=np.int64)
        for report, number in zip(reports, tables, strict=True):
            played = self.layout.shape.played(self.law.table(number))
            result[: self.layout.length] += np.where(self.layout.of_cells(played), report, 0)
            result[self.layout.length :] += played.ravel()
        return result

    def blank(self, users: int) -> FloatArray:
        """Return zeros, and the expected numbers of reports."""
        shape, chances = self.layout.shape, self.law.chances()
        never = np.ones((shape.models, shape.states, shape.actions))
        if self.law.stationary:
            never[:] = 1 - chances[0]
        else:
            for step in range(shape.horizon):
                never[shape.model_of(step)] *= 1 - chances[step]
        return np.append(np.zeros(self.layout.length), users * (1 - never.ravel()))


@dataclass(frozen=True, eq=False)
class SubsetsByTable(Subsets):
    """Subsets under a law of tables: each report adds to the rows (s, a) that its table plays.

    For each question the tally has, by row, action and outcome, how many reports hold the item,
    and then, by row and action, how many reports there are.
    """

    questions: tuple[Question, ...]
    law: TableDistribution

    @property
    def length(self) -> int:  # type: ignore[override]
        """The tallies of all questions."""
        return sum(one.crossed_length(self.law.shape) for one in self.questions)

    @functools.cached_property
    def rows(self) -> int:  # type: ignore[override]
        """How many rows the questions concern."""
        rows = (one.what.rows(self.law.shape, one.step, one.partition) for one in self.questions)
        return sum(len(states) for _, states in rows)

    def drawn(self, values: Values, table: int) -> tuple[Adder, Values]:
        """Return the places of the tally that a report adds one to."""
        tables, parts = self.law.tables([table]), []
        first = place = start = 0
        for question, (items, size) in zip(self.questions, self.parts, strict=True):
            named = np.array([values[place : place + size]], dtype=np.int64) - first
            parts.append(start + question.crossed_places(self.law.shape, named, tables))
            start += question.crossed_length(self.law.shape)
            first, place = first + items, place + size
        # Many may wait to be added: in as few bytes as will do.
        return Places(start), np.concatenate(parts).astype(np.min_scalar_type(start))

    def total(self, reports: Sequence[Values], tables: Sequence[int] = ()) -> IntArray:
        """Return how many reports name each outcome of each row."""
        result = np.zeros(self.length, dtype=np.int64)
        for start in range(0, len(reports), _AT_ONCE):
            some, numbers = reports[start : start + _AT_ONCE], tables[start : start + _AT_ONCE]
            result += self._total(some, self.law.tables(numbers))
        return result

    def _total(self, reports: Sequence[Values], tables: Array) -> IntArray:
        parts = []
        first = place = 0
        for question, (items, size) in zip(self.questions, self.parts, strict=True):
            named = np.array([report[place : place + size] for report in reports], dtype=np.int64)
            parts.append(question.crossed(self.law.shape, named - first, tables))
            first, place = first + items, place + size
        return np.concatenate(parts)

    def blank(self, users: int) -> FloatArray:
        """Return no answers, and the expected number of reports in each row."""
        parts = []
        for question in self.questions:
            part = np.zeros(question.crossed_length(self.law.shape))
            steps, states = question.what.rows(self.law.shape, question.step, question.partition)
            chances = self.law.chances()[steps, states].ravel()
            part[-len(chances) :] = users * chances
            parts.append(part)
        return np.concatenate(parts)


@dataclass(frozen=True)
class Places(Adder):
    """Reports that are the places of the tally to which each of them adds one."""

    length: int

    def total(self, reports: Sequence[Values], tables: Sequence[int] = ()) -> IntArray:
        """Return how many reports name each place."""
        result = np.zeros(self.length, dtype=np.int64)
        for start in range(0, len(reports), _AT_ONCE):
            some = np.concatenate(reports[start : start + _AT_ONCE])
            result += np.bincount(some, minlength=self.length)
        return result
