"""How far private sums can be off, at all times together: the mechanism's laws in compiled code.

The k-th sums may fail with probability 3δ/(2π²k²), and Σ_k 1/k² = π²/6: together they fail with
probability at most δ/4.
"""

from __future__ import annotations

import math

import numpy as np

from ldprl.kernels.compiling import inlined
from ldprl.mechanisms.error_laws import ErrorLaw, ErrorLaws, error_bound
from ldprl.shape import FloatArray

REWARDS, VISITS, DEPARTURES, TRANSITIONS = range(4)
"""Columns of the laws: c_{k,1}, …, c_{k,4} of the paper."""
_bound = inlined(error_bound)


def law_numbers(laws: ErrorLaws, failure: float) -> FloatArray:
    """Return the laws as an array: a column (ln(2π²·union/(3δ)), root, linear, power, floor, lag).

    With the first number, ln(union/δ_k) = ln(2π²·union/(3δ)) + 2·ln k.
    """

    def column(law: ErrorLaw) -> tuple[float, ...]:
        union = math.log(law.union * 2 * math.pi**2 / (3 * failure))
        return union, law.root, law.linear, law.power, law.floor, float(law.lag)

    blocks = (laws.rewards, laws.visits, laws.departures, laws.transitions)
    return np.array([column(law) for law in blocks]).T.copy()


@inlined
def error_of(laws: FloatArray, block: int, count: float, log_k: float) -> float:
    """Return the error of a sum of ``count`` − 1 reports that may fail with 3δ/(2π²k²)."""
    t = laws[0, block] + 2 * log_k
    bound: float = _bound(
        count - laws[5, block], t, laws[1, block], laws[2, block], laws[3, block], laws[4, block]
    )
    return bound
