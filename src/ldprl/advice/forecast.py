"""Forecasts: the loss of the policy in force after a number of users, by exact batch simulation."""

from __future__ import annotations

import math
import traceback
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ldprl.advice.pairs import Pair
from ldprl.advice.scenarios import Scenario
from ldprl.catalogue import build
from ldprl.experiments.cells import StoppedError
from ldprl.experiments.local import on_processes
from ldprl.shape import FloatArray, IntArray, Shape
from ldprl.simulation.engine import Simulation, simulate

FIRST_PLAN, GROWTH = 100, 0.25
"""A plan serves at least 1/100 of the users, and later ones a quarter of the users so far."""
AHEAD = 10
"""Forecasts cover this many times the number of users that the caller asks about."""


@dataclass(frozen=True)
class Trial:
    """One simulation: a pair at some ε in one world, for ``users`` users and :data:`AHEAD` times.

    Attributes
    ----------
    seed
        Decides the random numbers of the MDP, so that all pairs meet the same ones.
    crowd
        A plan serves no fewer users: a relay mixes them.
    """

    pair: Pair
    epsilon: float | None
    delta: float
    users: int
    seed: int
    world: Scenario
    crowd: int = 1

    def compute(self) -> Simulation:
        """Run the simulation.

        In numpy: with this few plans, compiling would take longer than it gains.
        """
        try:
            learner, mechanism = build(
                self.pair.learner,
                self.pair.mechanism,
                self.world.mdp.shape,
                episodes=self.users,
                epsilon=self.epsilon,
                delta=self.delta,
            )
            return simulate(
                self.world.mdp,
                learner.for_forecast(),
                mechanism,
                AHEAD * self.users,
                seed=self.seed,
                replan=self._next_plan,
                common_random_numbers=True,
                engine="interpreted",
            )
        except Exception:
            raise StoppedError(f"{self} failed\n{traceback.format_exc()}") from None

    def _next_plan(self, so_far: int) -> int:
        first = max(self.crowd, math.ceil(self.users / FIRST_PLAN))
        return max(first, math.ceil(GROWTH * so_far))

    def __str__(self) -> str:
        return f"{self.pair} in {self.world.name}"


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
    """

    pair: Pair
    epsilon: float | None
    points: IntArray
    losses: FloatArray

    @cached_property
    def mean(self) -> FloatArray:
        """Loss at every point, averaged over the runs."""
        mean: FloatArray = self.losses.mean(axis=0)
        return mean

    def after(self, users: int) -> FloatArray:
        """Return the loss of each run after ``users`` users."""
        at: FloatArray = self.losses[:, np.searchsorted(self.points, users)]
        return at

    def loss(self, users: int) -> float:
        """Return the mean loss after ``users`` users."""
        return float(self.after(users).mean())

    def users_needed(self, target: float) -> float:
        """Return after how many users the mean loss is at most ``target``, and stays so.

        Infinite if that does not happen within the simulated users.
        """
        return _settled(self.points, self.mean, target)

    def users_needed_each(self, target: float) -> list[float]:
        """Return the same for each run on its own."""
        return [_settled(self.points, row, target) for row in self.losses]


def _settled(points: IntArray, losses: FloatArray, target: float) -> float:
    above = np.flatnonzero(losses > target)
    if not len(above):
        return float(points[0])
    return math.inf if above[-1] == len(points) - 1 else float(points[above[-1] + 1])


def forecasts_of(
    trials: Sequence[Trial], workers: int, progress: Callable[[int, int], None] | None
) -> list[Forecast]:
    """Run ``trials`` and return one forecast for each pair, ε and shape, in order.

    One worker means this process. The result does not depend on the number of workers.
    """
    found: dict[Trial, Simulation] = {}
    if workers == 1:
        done = ((trial, trial.compute()) for trial in trials)
    else:
        done = on_processes(trials, workers)
    try:
        for trial, simulation in done:
            found[trial] = simulation
            if progress is not None:
                progress(len(found), len(trials))
    finally:
        done.close()
    gathered: dict[tuple[Pair, float | None, Shape], list[FloatArray]] = {}
    for trial in trials:
        rows = gathered.setdefault((trial.pair, trial.epsilon, trial.world.mdp.shape), [])
        rows.append(_losses(found[trial]) / trial.world.worth)
    points = found[trials[0]].checkpoints
    return [
        Forecast(pair, epsilon, points, np.array(rows))
        for (pair, epsilon, _), rows in gathered.items()
    ]


def _losses(simulation: Simulation) -> FloatArray:
    """Return what users k/2 to k lost on average, at every checkpoint k."""
    points = np.concatenate([[0], simulation.checkpoints])
    regret = np.concatenate([[0.0], simulation.curves[0]])
    half = np.interp(points[1:] / 2, points, regret)
    # A difference of large sums can miss zero by rounding.
    losses: FloatArray = np.maximum((regret[1:] - half) / (points[1:] / 2), 0.0)
    return losses
