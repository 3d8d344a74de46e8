"""Users who report more than once, and share a total ε among their reports."""

from __future__ import annotations

import math
from dataclasses import dataclass

from ldprl.accounting.composition import Budget, spent_together
from ldprl.bisection import bisect
from ldprl.errors import positive, probability, whole_number

_MOST_REPORTS = 10**4
"""Reports of one user that are composed."""
_DIGITS = 4
"""Significant digits of the ε of a report."""


@dataclass(frozen=True)
class Returning:
    """How often a user reports, and the δ at which all reports together are accounted.

    With δ = 0 the ε of the reports add up; with a small δ > 0 many reports cost less together
    (:mod:`ldprl.accounting.composition`).
    """

    reports: int = 1
    delta: float = 0.0

    def __post_init__(self) -> None:
        whole_number("reports_per_user", self.reports, 1, _MOST_REPORTS)
        probability("total_delta", self.delta, zero=True)

    def total(self, epsilon: float) -> float:
        """Return what all reports of a user cost together, at ``epsilon`` each."""
        return spent_together([Budget(epsilon)] * self.reports, self.delta).epsilon

    def each(self, total: float) -> float:
        """Return the largest ε of a report, to four digits, with which all cost ``total``."""
        low = positive("total_epsilon", total) / self.reports
        if self.delta:
            low, _ = bisect(lambda one: self.total(one) > total, low, total, relative=1e-5)
        step = 10.0 ** (math.floor(math.log10(low)) + 1 - _DIGITS)
        return round(math.floor(low / step * (1 + 1e-12)) * step, 12)


ONCE = Returning()
