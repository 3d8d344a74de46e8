"""The same people with and without a relay, at the same central ε."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from ldprl.accounting.shuffling import largest_local_epsilon
from ldprl.advice.adviser import Advice
from ldprl.advice.forecast import FIRST_PLAN, Forecast, Forecaster, Progress, Trials
from ldprl.advice.pairs import PAIRS
from ldprl.arrivals import Calendar
from ldprl.catalogue import Pair
from ldprl.errors import InputError, probability, whole_number
from ldprl.mechanisms.by_name import build_mechanism
from ldprl.shape import Shape
from ldprl.worlds.tabular import TabularMDP


@dataclass(frozen=True, eq=False)
class Relayed:
    """The best pair behind a relay.

    Attributes
    ----------
    crowd, delta
        How many reports the relay mixes at least, and the central δ.
    local_epsilon
        The ε₀ of each report, with which the crowd has the ε that was asked about.
    forecast
        Of the best pair at ε₀, with plans that serve at least a crowd.
    """

    crowd: int
    delta: float
    local_epsilon: float
    forecast: Forecast


def with_relay(
    problem: Shape | TabularMDP,
    advice: Advice,
    crowd: int,
    delta: float,
    *,
    pairs: Sequence[Pair] = PAIRS,
    seed: int = 0,
    calendar: Calendar | None = None,
    workers: int = 1,
    progress: Progress | None = None,
) -> Relayed:
    """Forecast what the users of ``advice`` lose if a relay gives them the same ε centrally.

    A pair is chosen by a few runs, and forecast by as many as ``advice`` has.
    """
    users, runs = advice.users, len(advice.worlds)
    if whole_number("crowd", crowd, 2) > users:
        raise InputError("crowd", crowd, f"at most the number of users, {users}")
    probability("delta", delta, zero=False)
    pure = [pair for pair in pairs if pair.pure]
    levels = {
        name: local_epsilon(name, advice.shape, crowd, advice.epsilon, delta)
        for name in dict.fromkeys(pair.mechanism for pair in pure)
    }
    with Trials(workers, progress) as trials:
        ask = Forecaster(
            problem,
            delta=advice.delta,
            least=max(crowd, math.ceil(users / FIRST_PLAN)),
            runs=runs,
            seed=seed,
            trials=trials,
            lag=0 if calendar is None else calendar.lag,
        )
        few = max(1, runs // 5)
        found = ask([(pair, levels[pair.mechanism]) for pair in pure], users, few)
        best = min(found, key=lambda one: one.loss(users)).pair
        level = levels[best.mechanism]
        (forecast,) = ask([(best, level)], users, runs)
    return Relayed(crowd, delta, level, forecast)


def local_epsilon(mechanism: str, shape: Shape, crowd: int, epsilon: float, delta: float) -> float:
    """Return the largest ε₀ of a report with which a crowd has central (``epsilon``, ``delta``).

    It is rounded down to four digits, so that it can be written into a deployment.
    """
    largest = largest_local_epsilon(
        crowd, epsilon, delta, lambda level: build_mechanism(mechanism, shape, level).blankets()
    )
    return math.floor(largest * 1e4) / 1e4
