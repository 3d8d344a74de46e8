"""Forecasts: the loss of the policies in force after a number of users, by exact simulation."""

from __future__ import annotations

import math
import time
import traceback
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Self

import numpy as np

from ldprl.catalogue import Pair, build
from ldprl.experiments.cells import StoppedError
from ldprl.experiments.local import Processes
from ldprl.shape import FloatArray, IntArray, Shape
from ldprl.simulation.engine import simulate
from ldprl.simulation.regret import late_loss, standard_error
from ldprl.simulation.replan import AtLeast, Growth
from ldprl.worlds.evaluation import regret
from ldprl.worlds.plausible import Scenario, scenarios
from ldprl.worlds.tabular import TabularMDP

Progress = Callable[[int, int, float], None]
"""Called with (trials done, trials known of so far, seconds that these still take at least)."""
FIRST_PLAN, GROWTH = 1000, 0.1
"""A plan serves at least 1/1000 of the users, and later ones a tenth of the users so far."""
AHEAD = 10
"""The recommended pair is simulated for this many times the users."""
LEAST_RUNS = 3
"""Fewest runs of a forecast: a standard error needs a few."""
_MOST_STEPS = 1.5 * 10**8
"""Steps of users in one forecast where every user is simulated: about four seconds of a core."""


@dataclass(frozen=True)
class Trial:
    """One simulation: a pair at some ε in one world.

    Attributes
    ----------
    users, least
        How many are simulated, and the least number that a plan serves.
    seed
        Decides what the world does by chance, so that all pairs meet the same luck.
    lag
        How many users begin before the first of them reports.
    """

    pair: Pair
    epsilon: float | None
    delta: float
    users: int
    least: int
    seed: int
    world: Scenario
    lag: int = 0

    def compute(self) -> TrialResult:
        """Run the simulation."""
        started = time.perf_counter()
        mdp, worth = self.world.mdp, self.world.worth
        try:
            learner, mechanism = build(
                self.pair.learner,
                self.pair.mechanism,
                mdp.shape,
                episodes=self.users,
                epsilon=self.epsilon,
                delta=0.0 if self.pair.pure else self.delta,
                structure=mdp.structure,
            )
            result = simulate(
                mdp,
                learner,
                mechanism,
                self.users,
                seed=self.seed,
                replan=AtLeast(Growth(GROWTH), self.least),
                common_random_numbers=True,
                lag=self.lag,
            )
            policy = learner.best_policy(result.statistics[0], np.random.default_rng(0))
        except Exception:
            reason = f"{self.pair} in {self.world.name} failed\n{traceback.format_exc()}"
            raise StoppedError(reason) from None
        return TrialResult(
            result.checkpoints,
            result.curves[0] / worth,
            regret(mdp, policy) / worth,
            time.perf_counter() - started,
        )


@dataclass(frozen=True, eq=False)
class TrialResult:
    """What a trial found: the regret at the checkpoints, and the loss of the policy at the end.

    Both are in units of what acting well is worth: V* − V of acting at random. ``seconds`` is what
    it took.
    """

    points: IntArray
    regret: FloatArray
    handed: float
    seconds: float


@dataclass(frozen=True, eq=False)
class Forecast:
    """Policy loss of a pair at some ε, in each run.

    The policy loss is (V* − V)/(V* − V^random): 0 for the best policy, 1 for acting at random. V is
    the value of the policies in force, over the users to whom they are handed out.

    Attributes
    ----------
    epsilon
        None without privacy.
    points
        Numbers of users, log-spaced.
    losses
        Of shape (runs, points): what the later half of the users so far lost on average, k/2 to k.
        It is exact for the simulated policies, being a difference of their regret, and averages
        over several plans, so that one plan that happens to explore does not decide it.
    totals
        Of the same shape: what all users so far lost on average.
    handed
        For each run: the loss of the policy that the learner hands over after the last user.
    """

    pair: Pair
    epsilon: float | None
    points: IntArray
    losses: FloatArray
    totals: FloatArray
    handed: FloatArray

    @property
    def level(self) -> float:
        """ε, infinite without privacy."""
        return math.inf if self.epsilon is None else self.epsilon

    @cached_property
    def mean(self) -> FloatArray:
        """Loss at every point, averaged over the runs."""
        mean: FloatArray = self.losses.mean(axis=0)
        return mean

    @cached_property
    def error(self) -> FloatArray:
        """Standard error of the mean at every point."""
        return standard_error(self.losses)

    def after(self, users: int) -> FloatArray:
        """Return the loss of each run after ``users`` users, or after the last simulated one."""
        place = min(int(np.searchsorted(self.points, users)), len(self.points) - 1)
        at: FloatArray = self.losses[:, place]
        return at

    def loss(self, users: int) -> float:
        """Return the mean loss after ``users`` users."""
        return float(self.after(users).mean())


class Trials:
    """Computes trials for several forecasters, each of them once.

    Planning holds the interpreter's lock, so several workers are processes.

    Parameters
    ----------
    workers
        Processes that compute; with 1 this one does.
    progress
        Called after each trial.
    """

    def __init__(self, workers: int = 1, progress: Progress | None = None) -> None:
        self._workers = workers
        self._processes = Processes(workers) if workers > 1 else None
        self._progress = progress
        self._known: dict[Trial, TrialResult] = {}
        self._took: dict[tuple[Pair, int], list[float]] = {}

    def __enter__(self) -> Self:
        """Return the trials."""
        return self

    def __exit__(self, *_: object) -> None:
        """End the processes."""
        if self._processes is not None:
            self._processes.__exit__()

    def __call__(self, trials: Sequence[Trial]) -> list[TrialResult]:
        """Return what the trials found, in order."""
        new = [trial for trial in dict.fromkeys(trials) if trial not in self._known]
        # The first of each pair come first: processes then compile different code.
        first = {trial.pair: trial for trial in reversed(new)}
        new.sort(key=lambda trial: first[trial.pair] is not trial)
        total = len(self._known) + len(new)
        done = (
            enumerate(map(Trial.compute, new))
            if self._processes is None
            else self._processes.compute(new)
        )
        for place, run in done:
            trial = new[place]
            self._known[trial] = run
            self._took.setdefault((trial.pair, trial.users), []).append(run.seconds)
            if self._progress is not None:
                self._progress(len(self._known), total, self._left(new))
        return [self._known[trial] for trial in trials]

    def _left(self, trials: Sequence[Trial]) -> float:
        """Return the seconds that the others will take at least: each as the quickest of its kind.

        Of a kind with fewer trials than that nothing is known: each process compiles in its first.
        """
        left = [trial for trial in trials if trial not in self._known]
        took = (self._took.get((trial.pair, trial.users), []) for trial in left)
        return sum(min(known) for known in took if len(known) > self._workers) / self._workers


class Forecaster:
    """Makes forecasts, each run of them in its own world.

    Worlds and luck depend on (seed, run) alone: every pair at every ε meets the same ones, so that
    differences between them stand out.

    Parameters
    ----------
    problem
        The MDP itself, or its sizes: then each run has its own plausible MDP.
    delta
        δ of mechanisms that need one.
    least
        The least number of users that a plan serves.
    runs
        The most runs of a forecast.
    seed
        As in :func:`ldprl.advice.adviser.advise`.
    trials
        Computes the simulations.
    lag
        As in :class:`Trial`.
    """

    def __init__(
        self,
        problem: Shape | TabularMDP,
        *,
        delta: float,
        least: int,
        runs: int,
        seed: int,
        trials: Trials,
        lag: int = 0,
    ) -> None:
        self.worlds = scenarios(problem, runs, seed)
        self.shape = self.worlds[0].mdp.shape
        self._chances = np.random.SeedSequence(seed).generate_state(runs).tolist()
        self._delta, self._least, self._trials, self._lag = delta, least, trials, lag

    def reach(self, pair: Pair, users: int) -> int:
        """Return how many of ``users`` users are simulated: all that time allows."""
        most = int(_MOST_STEPS / (LEAST_RUNS * self.shape.horizon))
        return min(users, most) if pair.by_user else users

    def __call__(
        self, wanted: Sequence[tuple[Pair, float | None]], users: int, runs: int
    ) -> list[Forecast]:
        """Return a forecast for each pair and ε, in order.

        Pairs whose users are all simulated have fewer runs where time asks for it, and no more
        users than :meth:`reach` says.
        """
        groups: list[list[Trial]] = []
        for pair, epsilon in wanted:
            until = self.reach(pair, users)
            affordable = int(_MOST_STEPS / (until * self.shape.horizon)) if pair.by_user else runs
            number = min(runs, max(LEAST_RUNS, affordable))
            groups.append(
                [
                    Trial(pair, epsilon, self._delta, until, self._least, chance, world, self._lag)
                    for chance, world in zip(self._chances, self.worlds[:number], strict=False)
                ]
            )
        done = iter(self._trials([trial for group in groups for trial in group]))
        return [_gathered(group, [next(done) for _ in group]) for group in groups]


def _gathered(trials: list[Trial], runs: list[TrialResult]) -> Forecast:
    points = runs[0].points
    regret = np.array([run.regret for run in runs])
    return Forecast(
        trials[0].pair,
        trials[0].epsilon,
        points,
        np.array([late_loss(points, row) for row in regret]),
        regret / points,
        np.array([run.handed for run in runs]),
    )
