"""From a question to advice: which ε, which mechanism and which learner, for how many users."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

import numpy as np

from ldprl.accounting.composition import Budget, spent_together
from ldprl.advice.forecast import (
    AHEAD,
    FIRST_PLAN,
    LEAST_RUNS,
    Forecast,
    Forecaster,
    Progress,
    Trials,
)
from ldprl.advice.monotone import Fit
from ldprl.advice.pairs import OPEN, preferred
from ldprl.advice.pairs import compared as compared_pairs
from ldprl.advice.search import FEW_RUNS, Search
from ldprl.arrivals import Calendar
from ldprl.bisection import bisect
from ldprl.catalogue import Pair
from ldprl.disk import read_json
from ldprl.errors import InputError, positive, probability, real, whole_number
from ldprl.shape import FloatArray, Shape
from ldprl.structure import Structure
from ldprl.worlds.evaluation import regret
from ldprl.worlds.plausible import given_scenario
from ldprl.worlds.tabular import TabularMDP

_LEAST_EPSILON, _MOST_EPSILON = 0.001, 100.0
"""The ε that a caller may ask about."""
_MOST_USERS = 10**11
"""Users that a caller may ask about: forecasts simulate ten times as many, the engine's limit."""
_MOST_REPORTS = 10**4
"""Reports of one user that are composed."""
_DIGITS = 4
"""Significant digits of the ε of a report."""
_INCUMBENT = (
    "a loss from 0 to 1, or with --mdp a JSON file with the action of each state, once or for each"
    " step"
)

Asked = Literal["epsilon", "users", "loss"]


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


@dataclass(frozen=True, eq=False)
class Advice:
    """The pair, the ε and the number of users to take, and what they are based on.

    Attributes
    ----------
    asked
        Which of the three numbers was asked for; the other two were given.
    shape, target, delta
        What was given; δ is that of the Gaussian mechanism.
    users, epsilon
        Given or found.
    worlds
        Names of the simulated MDPs, one for each run.
    compared
        Forecasts of every pair at ε.
    open
        The forecast without privacy; None in an answer before the last.
    near
        The recommended pair at ε and around it, in all runs, by ascending ε.
    handed
        For each run: the loss of the policy that the recommended pair hands over in the end.
    ahead
        The recommended pair at ε with more users.
    smaller
        The same with half the states, in plausible worlds of that size; None if the caller's MDP
        was used.
    returning
        How often a user reports; ``users`` counts all their reports.
    calendar
        How fast users arrive and how long episodes take; None: plans use every report at once.
    """

    asked: Asked
    shape: Shape
    target: float
    delta: float
    users: int
    epsilon: float
    worlds: tuple[str, ...]
    compared: tuple[Forecast, ...]
    open: Forecast | None
    near: tuple[Forecast, ...]
    handed: FloatArray
    ahead: Forecast
    smaller: Forecast | None
    returning: Returning
    calendar: Calendar | None = None

    @property
    def chosen(self) -> Forecast:
        """The recommended pair at the recommended ε."""
        return next(one for one in self.near if one.epsilon == self.epsilon)

    def fit(self, errors: float = 0.0) -> Fit:
        """Return the losses of the recommended pair, falling in ε and users."""
        return Fit(self.near, errors)

    @property
    def loss(self) -> float:
        """The expected loss of the recommended pair after the users in question."""
        return self.fit().loss(self.epsilon, self.users)

    @property
    def later_loss(self) -> float:
        """The expected loss after the users of ``ahead``.

        Where those runs are fewer, they say by which factor the loss falls.
        """
        before = self.ahead.loss(self.users)
        fall = self.ahead.loss(int(self.ahead.points[-1])) / before if before else 1.0
        return self.loss * min(fall, 1.0)

    @property
    def reached(self) -> bool:
        """Whether the expected loss is at most the target."""
        return self.loss <= self.target * (1 + 1e-9)

    def users_needed(self, loss: float) -> float:
        """Return how many users a loss takes at the recommended ε; infinite: more than ahead."""
        found = self.fit().users_needed(self.epsilon, loss)
        if found < math.inf:
            return found
        # As for the later loss: fewer runs say by which factor it falls.
        scale = self.ahead.loss(self.users) / self.loss if self.loss else 1.0
        later = Fit([self.ahead]).users_needed(self.epsilon, loss * scale)
        return max(float(self.users), later)

    def made_up_for_after(self, loss: float) -> float:
        """Return after how many users all of them together have lost no more than with ``loss``.

        Infinite if that is not within the simulated users.
        """
        points, totals = self.ahead.points, self.ahead.totals
        above = np.flatnonzero(totals.mean(axis=0) > loss)
        if not len(above):
            return float(points[0])
        return math.inf if above[-1] + 1 == len(points) else float(points[above[-1] + 1])


def advise(
    problem: Shape | TabularMDP,
    users: int | None = None,
    *,
    epsilon: float | None = None,
    target_loss: float = 0.1,
    delta: float = 1e-6,
    returning: Returning = ONCE,
    calendar: Calendar | None = None,
    pairs: Sequence[Pair] | None = None,
    runs: int = 30,
    seed: int = 0,
    workers: int = 1,
    progress: Progress | None = None,
    so_far: Callable[[Advice], None] | None = None,
) -> Advice:
    """Forecast what privacy costs, and recommend a learner, a mechanism and an ε.

    Of ``users`` and ``epsilon`` give one, and the other is searched for; or give both, and the loss
    is forecast.

    Parameters
    ----------
    problem
        The MDP itself, or its sizes: then each run has its own plausible MDP.
    users
        Number of users.
    epsilon
        ε of the whole trajectory, in each report.
    target_loss
        Policy loss to reach, in (0, 1): see :class:`~ldprl.advice.forecast.Forecast`.
    delta
        δ of the Gaussian mechanism; all others have δ = 0.
    returning
        How often each user reports; default: once.
    calendar
        How fast episodes begin and how long they take: users overlap, and plans lag.
    pairs
        Those to compare; default: :func:`~ldprl.advice.pairs.compared`.
    runs
        Runs of the recommended pair at ε and around it.
    seed, workers
        The result depends on the seed, and not on the number of processes.
    progress
        Called with (trials done, trials known of so far, seconds that these take at least).
    so_far
        Called with answers before the last: of the usual pair alone with few runs, then with all.
    """
    _check(users, epsilon, target_loss, delta)
    if users is not None:
        users *= returning.reports
    whole_number("runs", runs, 1)
    whole_number("seed", seed, 0)
    whole_number("workers", workers, 1)
    with Trials(workers, progress) as trials:

        def forecaster(problem: Shape | TabularMDP, runs: int) -> Forecaster:
            least = 1 if users is None else math.ceil(users / FIRST_PLAN)
            lag = 0 if calendar is None else calendar.lag
            return Forecaster(
                problem, delta=delta, least=least, runs=runs, seed=seed, trials=trials, lag=lag
            )

        few = min(FEW_RUNS, runs)
        ask = forecaster(problem, runs)
        every = tuple(compared_pairs(ask.shape, epsilon, users) if pairs is None else pairs)
        usual = preferred(ask.shape, epsilon, users)
        usual = usual if usual in every else every[0]

        def answer(pairs: tuple[Pair, ...], runs: int) -> Advice:
            found = Search(ask, pairs, usual, target_loss, runs).answer(users, epsilon)
            number, level, compared, near = found
            (last,) = (one for one in near if one.epsilon == level)
            if last.points[-1] > number:
                (last,) = ask([(near[0].pair, level)], number, runs)
            return Advice(
                asked="users" if users is None else "epsilon" if epsilon is None else "loss",
                shape=ask.shape,
                target=target_loss,
                delta=delta,
                users=number,
                epsilon=level,
                worlds=tuple(world.name for world in ask.worlds[:runs]),
                compared=tuple(compared),
                open=None,
                near=tuple(near),
                handed=last.handed,
                ahead=last,
                smaller=None,
                returning=returning,
                calendar=calendar,
            )

        if so_far is not None:
            for number in dict.fromkeys((min(LEAST_RUNS, runs), runs)):
                so_far(answer((usual,), number))
        found = answer(every, runs)
        chosen = (found.chosen.pair, found.epsilon)
        (free,) = ask([(OPEN, None)], found.users, few)
        (ahead,) = ask([chosen], AHEAD * found.users, runs)
        smaller = None
        if isinstance(problem, Shape):
            half = forecaster(replace(problem, states=math.ceil(problem.states / 2)), few)
            (smaller,) = half([chosen], found.users, few)
    return replace(found, open=free, ahead=ahead, smaller=smaller)


def _check(users: int | None, epsilon: float | None, target_loss: float, delta: float) -> None:
    if users is None and epsilon is None:
        raise InputError("users", None, "a number of users, an ε, or both")
    if epsilon is not None:
        expected = f"a number from {_LEAST_EPSILON:g} to {_MOST_EPSILON:g}"
        if not _LEAST_EPSILON <= real("epsilon", epsilon, expected) <= _MOST_EPSILON:
            raise InputError("epsilon", epsilon, expected)
    if users is not None and whole_number("users", users, 1) > _MOST_USERS:
        expected = f"at most {_MOST_USERS:.0e}: forecasts look {AHEAD} times further"
        raise InputError("users", users, expected)
    probability("target_loss", target_loss, zero=False)
    probability("delta", delta, zero=False)


def incumbent_loss(text: str, problem: Shape | TabularMDP) -> float:
    """Read the policy loss of what is in use: a number, or the file of a policy."""
    try:
        value = float(text)
    except ValueError:
        return _of_policy(text, problem)
    if not 0 <= real("incumbent", value, _INCUMBENT) <= 1:
        raise InputError("incumbent", value, _INCUMBENT)
    return value


def _of_policy(path: str, problem: Shape | TabularMDP) -> float:
    if isinstance(problem, Shape):
        raise InputError("incumbent", path, _INCUMBENT)
    table = read_json("incumbent", Path(path))
    policy = Structure.from_document({"incumbent": table}, problem.shape).incumbent
    assert policy is not None
    return regret(problem, policy) / given_scenario(problem).worth
