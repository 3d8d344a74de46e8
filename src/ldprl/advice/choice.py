"""Which pair to recommend: the usual one for these sizes, unless another is far better."""

from __future__ import annotations

import math
from collections.abc import Sequence

from ldprl.advice.forecast import Forecast
from ldprl.catalogue import Pair
from ldprl.simulation.regret import standard_error

CLEARLY, AT_LEAST = 0.5, 0.05
"""Clearly better: at most half the loss, ε or users; a loss also by 0.05 at least."""
_ERRORS = 2.0
"""A difference counts from this many standard errors on."""


def best_at(forecasts: Sequence[Forecast], users: int, usual: Pair) -> Pair:
    """Return the pair to take, of forecasts at one ε in the same worlds."""
    there = {forecast.pair: forecast for forecast in forecasts}
    best = min(there.values(), key=lambda forecast: forecast.loss(users))
    known = there[usual]
    runs = min(len(best.losses), len(known.losses))
    gains = known.after(users)[:runs] - best.after(users)[:runs]
    clear = (
        best.loss(users) <= CLEARLY * known.loss(users)
        and gains.mean() >= AT_LEAST
        and gains.mean() >= _ERRORS * float(standard_error(gains))
    )
    return best.pair if clear else usual


def cheapest(needs: dict[Pair, float], usual: Pair) -> Pair:
    """Return the pair that needs least (of ε, or of users) for the target; infinite: too much."""
    best = min(needs, key=lambda pair: needs[pair])
    return best if needs[best] <= CLEARLY * needs[usual] and needs[best] < math.inf else usual


def rounded_up(value: float) -> float:
    """Return the next number with two digits."""
    step = 10.0 ** (math.floor(math.log10(value)) - 1)
    return round(math.ceil(round(value / step, 6)) * step, 12)
