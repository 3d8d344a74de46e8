"""Budgets for a stretch of time: "at most ε = 4 a year", in every year, whenever it begins.

A report counts from the moment that it is paid for until ``days`` after its verdict; one without a
verdict may still go out, so it counts. Let T be any stretch of ``days``, and R the report of T that
was paid for last. Every other report that went out within T was paid for before R, and had its
verdict no earlier than T begins, so no more than ``days`` before R was paid for: all of them were
counted when R was admitted. Hence what goes out within T stays within the budget.

Clocks are set wrong, and set again. How long ago something happened is the least of what the two
clocks allow: the wall clock's difference, and the time that has surely passed between the ledger's
lines, for which the clock that runs since the machine was started is asked where both lines are of
one start. So a clock that is put forward while the machine runs sets nothing free; one that is
put forward while it is off does, until it is put right again; and one that is put back sets nothing
free either.

A device that has lost its clock begins at 1970, or another date before there was this client. Such
moments are left out, except that of the report itself: it counts until ``days`` after the ledger's
next line with a date that can be, or for ever where no line of the same start, and none after it,
says how long ago it was.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ldprl.accounting.composition import Budget
from ldprl.errors import positive, real

DAY = 86400.0
_EARLIEST = 1_767_225_600.0
"""2026 began: before that there was no client like this one, so that a clock said it wrongly."""
_BOOT = Path("/proc/sys/kernel/random/boot_id")


@dataclass(frozen=True)
class RollingBudget:
    """What the reports of any ``days`` days may cost together.

    Attributes
    ----------
    budget
        The (ε, δ) that they may cost.
    days
        How long a stretch of time is; 365 for a year.
    """

    budget: Budget
    days: float

    def __post_init__(self) -> None:
        positive("days", self.days)

    def __str__(self) -> str:
        return f"{self.budget} in any {self.days:g} days"


@dataclass(frozen=True)
class Moment:
    """A moment by both clocks, in seconds.

    Attributes
    ----------
    wall
        Since 1970, as the machine's clock says, right or wrong.
    running
        Since the machine was started, asleep or not.
    start
        Which start that was; empty where it cannot be known.
    """

    wall: float
    running: float
    start: str

    @classmethod
    def now(cls) -> Moment:
        """Return this moment."""
        try:
            running, start = time.clock_gettime(time.CLOCK_BOOTTIME), _BOOT.read_text().strip()
        except (AttributeError, OSError):
            running, start = 0.0, ""
        return cls(time.time(), running, start)

    @property
    def possible(self) -> bool:
        """Whether it is dated after there was this client."""
        return self.wall >= _EARLIEST

    def precedes(self, other: Moment) -> bool:
        """Whether one start of the machine has both, so that its running clock counts."""
        return bool(self.start) and self.start == other.start

    def document(self) -> list[Any]:
        """Return it as the ledger writes it."""
        return [round(self.wall, 3), round(self.running, 3), self.start]

    @classmethod
    def from_document(cls, document: object) -> Moment:
        """Read what :meth:`document` wrote."""
        if not isinstance(document, list) or len(document) != 3:
            raise ValueError("expected three values")
        wall, running, start = document
        return cls(real("wall", wall, "a number"), real("running", running, "a number"), str(start))


def age(line: int, moments: Sequence[Moment], now: Moment) -> float | None:
    """Return how many seconds ago, at the least, line number ``line`` of the ledger was written.

    ``moments`` are those of all lines, in their order. None where nothing is known of it.
    """
    written, *after = moments[line:]
    known = [written, *(moment for moment in after if moment.possible)]
    if not known[-1].possible and not known[-1].precedes(now):
        return None
    passed = sum(_passed(one, other) for one, other in itertools.pairwise([*known, now]))
    return max(0.0, min(now.wall - written.wall, passed))


def _passed(before: Moment, after: Moment) -> float:
    """Return a lower bound on the seconds between two moments."""
    by_wall = max(0.0, after.wall - before.wall)
    if before.precedes(after):
        return min(by_wall, max(0.0, after.running - before.running))
    return by_wall if before.possible else 0.0
