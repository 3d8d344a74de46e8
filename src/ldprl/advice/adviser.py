"""From a question to advice: which ε, which mechanism and which learner."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ldprl.advice.choice import best_at, cheapest, epsilon_needed
from ldprl.advice.forecast import AHEAD, Forecast, Trial, forecasts_of
from ldprl.advice.pairs import OPEN, PAIRS, Pair
from ldprl.advice.scenarios import Scenario, given_scenario, plausible_scenarios
from ldprl.errors import InputError, probability, real, whole_number
from ldprl.mdp.tabular import TabularMDP
from ldprl.shape import Shape

DEFAULT_TARGET, DEFAULT_DELTA = 0.1, 1e-6
_AROUND = (0.25, 0.5, 1.0, 2.0, 4.0)
"""Simulated ε, as multiples of the ε that the caller asks about."""
_LEVELS = (0.1, 0.3, 1.0, 3.0, 10.0)
"""Simulated ε where the caller asks about none."""
_BEYOND = 1.5
"""The ε tried after the interpolated one are at least this many times as large."""
_LEAST_EPSILON, _MOST_EPSILON = 0.001, 100.0
_MOST_USERS = 10**11


@dataclass(frozen=True, eq=False)
class Advice:
    """Forecasts for every pair and ε, and the pair and ε to take.

    Attributes
    ----------
    shape, users, target, delta
        What was asked; δ is that of the Gaussian mechanism.
    epsilon
        The ε that was asked about, or None.
    worlds
        Names of the simulated MDPs, one for each run.
    epsilons
        The ε of ``forecasts``, ascending.
    forecasts
        One for each pair and ε.
    open
        The forecast without privacy.
    chosen
        The recommended pair at the recommended ε.
    around
        The same pair at half and at twice that ε.
    smaller
        The same pair and ε with half the states, in plausible worlds of that size; None if the
        caller's MDP was used.
    """

    shape: Shape
    users: int
    target: float
    delta: float
    epsilon: float | None
    worlds: tuple[str, ...]
    epsilons: tuple[float, ...]
    forecasts: tuple[Forecast, ...]
    open: Forecast
    chosen: Forecast
    around: tuple[Forecast, Forecast]
    smaller: Forecast | None

    @property
    def reached(self) -> bool:
        """Whether the recommended pair reaches the target loss with the recommended ε."""
        return self.chosen.loss(self.users) <= self.target

    @property
    def pairs(self) -> list[Pair]:
        """The pairs of a learner and a mechanism that were simulated."""
        return list(dict.fromkeys(forecast.pair for forecast in self.forecasts))

    def of(self, pair: Pair) -> list[Forecast]:
        """Return the forecasts of ``pair``, by ascending ε."""
        return [forecast for forecast in self.forecasts if forecast.pair == pair]

    def epsilon_needed(self, pair: Pair) -> float:
        """Return the approximate ε at which ``pair`` reaches the target; infinite if none does."""
        return epsilon_needed(self.of(pair), self.users, self.target)


def advise(
    problem: Shape | TabularMDP,
    users: int,
    *,
    epsilon: float | None = None,
    target_loss: float = DEFAULT_TARGET,
    delta: float = DEFAULT_DELTA,
    runs: int = 3,
    seed: int = 0,
    workers: int = 1,
    progress: Callable[[int, int], None] | None = None,
) -> Advice:
    """Forecast what privacy costs, and recommend a learner, a mechanism and an ε.

    Parameters
    ----------
    problem
        The MDP itself, or its sizes: then each run has its own plausible MDP.
    users
        Number of users, one episode each.
    epsilon
        The ε to advise on; default: search for the least that reaches the target.
    target_loss
        Policy loss to reach, in (0, 1): see :class:`~ldprl.advice.forecast.Forecast`.
    delta
        δ of the Gaussian mechanism; all others have δ = 0.
    runs
        Independent runs of each pair at each ε.
    seed, workers
        The result depends on the seed, and not on the number of processes.
    progress
        Called with (trials done, trials in all), in a few rounds.
    """
    if epsilon is not None:
        expected = f"a number from {_LEAST_EPSILON:g} to {_MOST_EPSILON:g}"
        if not _LEAST_EPSILON <= real("epsilon", epsilon, expected) <= _MOST_EPSILON:
            raise InputError("epsilon", epsilon, expected)
    if whole_number("users", users, 1) > _MOST_USERS:
        expected = f"at most {_MOST_USERS:.0e}: forecasts look {AHEAD} times further"
        raise InputError("users", users, expected)
    probability("target_loss", target_loss, zero=False)
    probability("delta", delta, zero=False)
    whole_number("runs", runs, 1)
    whole_number("seed", seed, 0)
    whole_number("workers", workers, 1)
    if isinstance(problem, Shape):
        worlds = plausible_scenarios(problem, runs, seed)
    else:
        worlds = [given_scenario(problem)] * runs

    def trials(
        wanted: Iterable[tuple[Pair, float | None]], places: Sequence[Scenario]
    ) -> list[Trial]:
        chances = np.random.SeedSequence(seed).generate_state(runs).tolist()
        return [
            Trial(pair, level, delta, users, chance, world)
            for pair, level in wanted
            for chance, world in zip(chances, places, strict=True)
        ]

    levels = _LEVELS if epsilon is None else tuple(epsilon * step for step in _AROUND)
    every = [(pair, level) for pair in PAIRS for level in levels]
    first = forecasts_of(trials([(OPEN, None), *every], worlds), workers, progress)
    if epsilon is None:
        pair, needed = cheapest(first[1:], users, target_loss)
        # A simulation can miss the target at an interpolated ε; then larger ε are tried.
        tried = [needed, *(level for level in levels if level >= _BEYOND * needed)]
    else:
        pair, tried = best_at(epsilon, first[1:], users), [epsilon]
    near = {forecast.epsilon: forecast for forecast in first if forecast.pair == pair}

    def look_at(*wanted: float) -> None:
        # Few trials: starting processes would take longer than they save.
        missing = trials([(pair, level) for level in wanted if level not in near], worlds)
        found = forecasts_of(missing, 1, progress) if missing else []
        near.update({forecast.epsilon: forecast for forecast in found})

    for level in tried:
        look_at(level)
        if near[level].loss(users) <= target_loss:
            break
    look_at(level / 2, 2 * level)
    smaller = None
    if isinstance(problem, Shape):
        half = replace(problem, states=math.ceil(problem.states / 2))
        other = trials([(pair, level)], plausible_scenarios(half, runs, seed))
        smaller = forecasts_of(other, 1, progress)[0]
    return Advice(
        shape=worlds[0].mdp.shape,
        users=users,
        target=target_loss,
        delta=delta,
        epsilon=epsilon,
        worlds=tuple(world.name for world in worlds),
        epsilons=levels,
        forecasts=tuple(first[1:]),
        open=first[0],
        chosen=near[level],
        around=(near[level / 2], near[2 * level]),
        smaller=smaller,
    )
