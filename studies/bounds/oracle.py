"""What an oracle pays that knows the gaps and the occupancies, and asks and concludes as we do.

It explores each row that has an alternative by the cheapest policies, one question for each user,
until the confidence set excludes the alternative. Between it and the lower bound lie the questions
and the width of the set; between it and a learner lies the exploration rule.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from ldprl.bisection import bisect
from ldprl.bounds.alternatives import Alternative, Instance, Row
from ldprl.bounds.pair import cost_per_visit
from ldprl.errors import InputError
from ldprl.mechanisms.mechanism import Mechanism
from ldprl.mechanisms.row_laws import RowLaw


@dataclass(frozen=True)
class OracleCost:
    """Regret of the oracle, and what its questions alone would cost.

    Attributes
    ----------
    questions
        Σ over rows of the regret per ln K, with information d²o/(2V) per visit: that of the
        mechanism's answers, of variance V, about a change d of a row that a share o visits.
    regret
        Σ over rows of the regret until the confidence set excludes the alternative.
    """

    questions: float
    regret: float


def oracle_of(
    instance: Instance, binding: tuple[Alternative, ...], mechanism: Mechanism, failure: float
) -> OracleCost:
    """Add up both over the rows of a lower bound, each at the step that is cheapest to ask."""
    from ldprl.learning.ldp_evi import LDPEVI

    threshold = LDPEVI(mechanism, failure_probability=failure).log_threshold
    questions = regret = 0.0
    for one in binding:
        law = _law(mechanism, one)
        costs = [_costs(instance, one, law, threshold, step) for step in one.row.steps]
        questions += min(cost[0] for cost in costs)
        regret += min(cost[1] for cost in costs)
    return OracleCost(questions, regret)


def _law(mechanism: Mechanism, one: Alternative) -> RowLaw:
    laws = mechanism.row_laws
    return laws.rewards if one.row.what == "reward" else laws.transitions


def _costs(
    instance: Instance, one: Alternative, law: RowLaw, threshold: float, step: int
) -> tuple[float, float]:
    row = Row(one.row.what, (step,), one.row.state, one.row.action)
    mask = row.mask(instance.gaps.shape)
    visited = instance.most(mask)
    if visited <= 0:
        return math.inf, math.inf
    try:
        cost = cost_per_visit(instance, row)
    except InputError:
        # Some best policy visits the row at this step: it is explored for nothing.
        return 0.0, 0.0
    change = one.after - one.before
    polynomial = np.polynomial.polynomial.polyval
    outside, inside = (float(polynomial(one.before, q)) for q in (law.outside, law.inside))
    variance = (1 - visited) * outside + visited * inside
    users = _users(law, variance, visited * change, threshold)
    return cost * 2 * variance / (visited * change**2), cost * visited * users


def _users(law: RowLaw, variance: float, drift: float, threshold: float) -> float:
    """Return how many users it takes until a drift per user exceeds the boundary of their sum."""
    from ldprl.learning.confidence import boundary, mixture_rates

    rates, reach = mixture_rates(law), max(law.up[0], law.down[0])

    def exceeds(users: float) -> bool:
        return boundary(users * variance, reach, law.tail, threshold, rates) <= users * drift

    low, high = 0.0, 1.0
    while not exceeds(high):
        low, high = high, 2 * high
    return bisect(exceeds, low, high, halvings=40)[1]
