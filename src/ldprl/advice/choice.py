"""Which pair to recommend: the one with a proved confidence set, unless another is far better."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from ldprl.advice.forecast import Forecast
from ldprl.advice.pairs import PREFERRED, Pair

CLEARLY, AT_LEAST = 0.5, 0.05
"""Clearly better: at most half the loss (or half the ε), and at least 0.05 less loss."""


def epsilon_needed(forecasts: Sequence[Forecast], users: int, target: float) -> float:
    """Return the approximate ε at which the mean loss after ``users`` users is ``target``.

    Interpolated between two simulated ε, linearly in ln ε, and rounded up to two digits. The least
    simulated ε if it is enough; infinite if the largest is not.

    Parameters
    ----------
    forecasts
        Those of one pair, by ascending ε.
    users, target
        Their number, and the loss to reach.
    """
    levels = [forecast.epsilon or math.inf for forecast in forecasts]
    losses = [forecast.loss(users) for forecast in forecasts]
    above = [index for index, loss in enumerate(losses) if loss > target]
    if not above:
        return levels[0]
    last = above[-1]
    if last + 1 == len(levels):
        return math.inf
    share = (losses[last] - target) / (losses[last] - losses[last + 1])
    return _rounded_up(levels[last] * (levels[last + 1] / levels[last]) ** share)


def best_at(epsilon: float, forecasts: Sequence[Forecast], users: int) -> Pair:
    """Return the pair to take at ``epsilon``; a better one must be better in every run."""
    there = {forecast.pair: forecast for forecast in forecasts if forecast.epsilon == epsilon}
    best = min(there.values(), key=lambda forecast: forecast.loss(users))
    usual = there[PREFERRED]
    clear = (
        best.loss(users) <= CLEARLY * usual.loss(users)
        and best.loss(users) <= usual.loss(users) - AT_LEAST
        and bool(np.all(best.after(users) <= usual.after(users)))
    )
    return best.pair if clear else PREFERRED


def cheapest(forecasts: Sequence[Forecast], users: int, target: float) -> tuple[Pair, float]:
    """Return the pair that needs the least ε for the target, and that ε.

    Where no simulated ε is enough, return the best pair at the largest of them.
    """
    pairs = dict.fromkeys(forecast.pair for forecast in forecasts)
    needs = {
        pair: epsilon_needed([one for one in forecasts if one.pair == pair], users, target)
        for pair in pairs
    }
    best = min(needs, key=lambda pair: needs[pair])
    if math.isinf(needs[best]):
        most = max(forecast.epsilon or 0.0 for forecast in forecasts)
        return best_at(most, forecasts, users), most
    chosen = best if needs[best] <= CLEARLY * needs[PREFERRED] else PREFERRED
    return chosen, needs[chosen]


def _rounded_up(value: float) -> float:
    step = 10.0 ** (math.floor(math.log10(value)) - 1)
    return round(math.ceil(round(value / step, 6)) * step, 12)
