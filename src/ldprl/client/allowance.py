"""What a budget still allows, given the reports that are on file."""

from __future__ import annotations

import bisect
import math
from collections.abc import Sequence
from dataclasses import dataclass

from ldprl.accounting.composition import Budget, Spent, spent_together
from ldprl.accounting.filter import admits
from ldprl.client.entries import Entries, Entry
from ldprl.client.window import Moment, RollingBudget

_MOST = 10_000
"""How many further reports are counted; a larger number is of no use to anybody."""


@dataclass(frozen=True)
class Left:
    """What is left for a deployment's reports.

    Attributes
    ----------
    reports
        How many more of them the budget allows now, 10,000 at the most.
    counted
        What the reports cost that count now.
    days
        In how many days, if nothing is spent meanwhile, there is room for one: 0 if there is now,
        None if there never will be, or not before a report has its verdict.
    """

    reports: int
    counted: Spent
    days: float | None


@dataclass(frozen=True)
class Allowance:
    """Reports on file, and a budget for them, at one moment."""

    entries: Entries
    budget: Budget | RollingBudget
    now: Moment

    def counted(self) -> list[Entry]:
        """Return the reports that count against the budget now."""
        return self.entries.counted(self.budget, self.now)

    def fits(self, cost: Budget, more: int = 1, kept: Sequence[Entry] | None = None) -> bool:
        """Say whether this many more reports fit, beside those ``kept``, by default all counted."""
        beside = self.counted() if kept is None else kept
        costs = [*(entry.cost for entry in beside), *[cost] * more]
        if not isinstance(self.budget, RollingBudget):
            return admits(costs, self.budget)
        ever = self.entries.all()
        return admits(costs, self.budget.budget, ever[0].cost if ever else cost)

    def left(self, cost: Budget) -> Left:
        """Return how many more reports at this cost fit, or when one will."""
        counted = self.counted()
        spent = spent_together([entry.cost for entry in counted])
        numbers = range(1, _MOST + 1)
        reports = bisect.bisect_left(
            numbers, True, key=lambda more: not self.fits(cost, more, counted)
        )
        return Left(reports, spent, 0.0 if reports else self._days(cost, counted))

    def _days(self, cost: Budget, counted: Sequence[Entry]) -> float | None:
        """Return when enough reports will no longer count, for one more to fit."""
        if not isinstance(self.budget, RollingBudget):
            return None
        ends = [self.entries.days_left(entry, self.budget, self.now) for entry in counted]
        for end in sorted(set(ends) - {math.inf}):
            kept = [entry for entry, its in zip(counted, ends, strict=True) if its > end]
            if self.fits(cost, 1, kept):
                return end
        return None
