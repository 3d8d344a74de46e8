"""How far private sums can be off, at all times together."""

from __future__ import annotations

import math
from dataclasses import dataclass

from ldprl.mechanisms.error_laws import ErrorLaws
from ldprl.shape import FloatArray
from ldprl.statistics import Statistics


@dataclass(frozen=True)
class CounterErrors:
    """Bounds on |R̃ − R|, |Ñ^r − N^r|, |Σ_{s'} Ñ^p − N^p| and |Ñ^p − N^p|, one for each (s, a)."""

    rewards: FloatArray
    visits: FloatArray
    departures: FloatArray
    transitions: FloatArray


def counter_errors(laws: ErrorLaws, statistics: Statistics, failure: float) -> CounterErrors:
    """Evaluate the mechanism's laws so that they hold at all times but for δ/4 of all cases.

    The noise of a cell grows with the reports decoded into it; each of the k-th sums may fail with
    3δ/(2π²k²), where k − 1 users have reported, and Σ_k 1/k² = π²/6.
    """
    each = 3 * failure / (2 * math.pi**2 * (statistics.users + 1.0) ** 2)
    reports, moves = statistics.reports + 1.0, statistics.move_reports + 1.0
    return CounterErrors(
        rewards=laws.rewards(reports, each),
        visits=laws.visits(reports, each),
        departures=laws.departures(moves, each),
        transitions=laws.transitions(moves, each),
    )
