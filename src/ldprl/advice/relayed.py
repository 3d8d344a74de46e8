"""The same people with and without a relay, at the same central ε."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ldprl.accounting.shuffling import largest_local_epsilon
from ldprl.advice.adviser import Advice
from ldprl.advice.forecast import Forecast, Trial, forecasts_of
from ldprl.advice.pairs import PAIRS
from ldprl.advice.scenarios import given_scenario, plausible_scenarios
from ldprl.errors import InputError, probability, whole_number
from ldprl.mdp.tabular import TabularMDP
from ldprl.mechanisms.catalogue import build_mechanism
from ldprl.shape import Shape


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
    seed: int = 0,
    workers: int = 1,
    progress: Callable[[int, int], None] | None = None,
) -> Relayed:
    """Forecast what the users of ``advice`` lose if a relay gives them the same ε centrally."""
    if advice.epsilon is None:
        raise InputError("epsilon", None, "the central ε to compare at, with a crowd")
    if whole_number("crowd", crowd, 2) > advice.users:
        raise InputError("crowd", crowd, f"at most the number of users, {advice.users}")
    probability("delta", delta, zero=False)
    runs, shape = len(advice.worlds), advice.shape
    if isinstance(problem, Shape):
        worlds = plausible_scenarios(problem, runs, seed)
    else:
        worlds = [given_scenario(problem)] * runs
    chances = np.random.SeedSequence(seed).generate_state(runs).tolist()
    trials = []
    for pair in PAIRS:
        if not pair.pure:
            continue
        # Rounded down to four digits, so that it can be written into a deployment.
        name = pair.mechanism
        largest = largest_local_epsilon(
            crowd,
            advice.epsilon,
            delta,
            lambda level, name=name: build_mechanism(name, shape, level).blankets(),  # type: ignore[misc]
        )
        local = np.floor(largest * 1e4) / 1e4
        trials += [
            Trial(pair, float(local), delta, advice.users, chance, world, crowd)
            for chance, world in zip(chances, worlds, strict=True)
        ]
    found = forecasts_of(trials, workers, progress)
    best = min(found, key=lambda one: one.loss(advice.users))
    assert best.epsilon is not None
    return Relayed(crowd, delta, best.epsilon, best)
