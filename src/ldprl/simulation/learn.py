"""Learn a policy in any environment from private bits: the front door of simulations."""

from __future__ import annotations

import math
import os
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from multiprocessing import get_context
from typing import TYPE_CHECKING, Any

import numpy as np

from ldprl.catalogue import build
from ldprl.errors import InputError, whole_number
from ldprl.policies.parametric import ParametricPolicy
from ldprl.policies.policy import Action
from ldprl.shape import FloatArray, IntArray
from ldprl.simulation.regret import standard_error
from ldprl.simulation.rollouts import Rollout, Streams, roll_out
from ldprl.statistics import MOST_USERS
from ldprl.worlds.sampled import SampledWorld
from ldprl.worlds.sampled_from import sampled_from

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_WHOLE = "ldprl.mechanisms.whole_return:WholeReturn"
Progress = Callable[[int, int], None]


@dataclass(frozen=True, eq=False)
class Rollouts:
    """What independent runs learnt in one world.

    Attributes
    ----------
    name
        What the world is called.
    epsilon
        What each user's report may cost; infinite without privacy.
    users, earned
        How many users there were after each version, of shape (versions,), and what those of each
        version earned on average, of shape (runs, versions).
    looks, worth
        After how many users the learnt policy was looked at, of shape (looks,), and its mean return
        in fresh episodes, of shape (runs, looks).
    policies
        The policy that each run would hand over.
    best
        The largest mean return of any policy, where it is known.
    unscaled
        Features without bounds, which entered as they are.
    seconds
        How long the simulation took.
    """

    name: str
    epsilon: float
    users: IntArray
    earned: FloatArray
    looks: IntArray
    worth: FloatArray
    policies: tuple[ParametricPolicy, ...]
    best: float | None
    unscaled: tuple[str, ...]
    seconds: float

    @property
    def mean_return(self) -> FloatArray:
        """What users earned, on average over all of a run."""
        mean: FloatArray = self.earned @ np.diff(self.users, prepend=0) / self.users[-1]
        return mean

    @property
    def start_return(self) -> float:
        """What the policy is worth that all runs start from."""
        return float(self.worth[:, 0].mean())

    @property
    def final_return(self) -> FloatArray:
        """What the policy to hand over is worth, of each run, in fresh episodes."""
        return self.worth[:, -1]

    @property
    def regret(self) -> FloatArray | None:
        """What users lost against the best policy, in all; None where that is not known."""
        return None if self.best is None else self.users[-1] * (self.best - self.mean_return)

    @property
    def learned(self) -> FloatArray | None:
        """The share of the gap between start and best that is closed, where the best is known."""
        if self.best is None or self.best <= self.start_return:
            return None
        share: FloatArray = (self.final_return - self.start_return) / (
            self.best - self.start_return
        )
        return share

    @property
    def curve(self) -> tuple[IntArray, FloatArray]:
        """Numbers of users, and what the learnt policy is worth then, on average over runs."""
        return self.looks, self.worth.mean(axis=0)

    def policy(self, observation: object) -> Action:
        """Return what the policy of the first run tells somebody who sees ``observation``."""
        return self.policies[0].act(0, observation)

    def columns(self) -> dict[str, Any]:
        """Return one row for each run and look: run, users and mean return."""
        runs, looks = self.worth.shape
        return {
            "run": np.repeat(np.arange(runs), looks),
            "users": np.tile(self.looks, runs),
            "mean_return": self.worth.ravel(),
        }

    def to_frame(self) -> Any:
        """Return :meth:`columns` as a data frame of pandas, or without it a table of pyarrow."""
        try:
            import pandas
        except ModuleNotFoundError:
            import pyarrow

            return pyarrow.table(self.columns())
        return pandas.DataFrame(self.columns())

    def plot(self) -> Figure:
        """Draw what the learnt policy is worth against the number of users."""
        from matplotlib.figure import Figure

        figure = Figure(figsize=(6.4, 4.0), layout="constrained")
        axes = figure.subplots()
        users, mean = self.curve
        places = np.maximum(users, 1)
        if len(self.worth) > 1:
            error = 2 * standard_error(self.worth)
            axes.fill_between(places, mean - error, mean + error, alpha=0.2, linewidth=0)
        axes.plot(places, mean, marker=".", label=self._privacy)
        if self.best is not None:
            axes.axhline(self.best, color="#6b6b6b", linestyle=":", label="best policy")
        axes.set_xscale("log")
        axes.set_xlabel("users")
        axes.set_ylabel("mean return of the policy")
        axes.set_title(self.name)
        axes.legend(frameon=False)
        return figure

    @property
    def _privacy(self) -> str:
        return f"ε = {self.epsilon:g}" if math.isfinite(self.epsilon) else "no privacy"

    def __str__(self) -> str:
        """Three lines: what ran, what was learnt, what it cost."""
        runs, final = len(self.worth), self.final_return
        error = f" ± {float(standard_error(final)):.2g}" if runs > 1 else ""
        best = "" if self.best is None else f" (best {self.best:.4g})"
        losses = self.regret
        lost = "" if losses is None else f", regret {losses.mean():.4g}"
        return (
            f"{self.name}: {runs} run{'s' * (runs > 1)} of {self.users[-1]:,} users, "
            f"{self._privacy}\n"
            f"the policy is worth {final.mean():.4g}{error}, at the start {self.start_return:.4g}"
            f"{best}\n"
            f"users earned {self.mean_return.mean():.4g} on average{lost}; {self.seconds:.1f} s"
        )


def learn(
    env: object,
    policy: str = "linear",
    epsilon: float | None = 1.0,
    users: int = 5_000,
    horizon: int | None = None,
    return_range: tuple[float, float] | None = None,
    hidden: Sequence[int] | None = None,
    runs: int = 1,
    seed: int = 0,
    *,
    activation: str | None = None,
    spread: float | None = None,
    start: object = None,
    learner: str = "ldp-es",
    mechanism: str | None = None,
    scale: Sequence[float | str] | None = None,
    workers: int | None = None,
    progress: Progress | None = None,
) -> Rollouts:
    """Simulate users who run policies of their own and report one private bit each.

    Parameters
    ----------
    env, policy, horizon, return_range, scale
        The world and the kind of policy: see :func:`~ldprl.worlds.sampled_from.sampled_from`.
    epsilon
        What a report may cost; None: no privacy, users report the whole return.
    users, runs
        Users of a run, one episode each, and independent runs.
    hidden, activation
        Units of the hidden layers of a network (16 by default), and what is between layers.
    seed
        Run i depends on (seed, i) alone.
    spread, start
        The unit σ₀ of a parameter, and the parameters to start from: 1 and zeros by default.
    learner, mechanism
        By name, or one's own as ``module:Class``.
    workers
        Threads where the world is compiled or made of contexts, None one for each core; else
        processes that share the runs, None one. The result does not depend on it.
    progress
        Called with (run, users so far) after each version; in processes when a run is over.

    Examples
    --------
    >>> result = learn("CartPole-v1", epsilon=2, users=500, horizon=20)
    >>> result.policy((0.0, 0.0, 0.1, 0.0)) in (0, 1)
    True
    """
    whole_number("users", users, 1, MOST_USERS)
    whole_number("runs", runs, 1, 10**6)
    whole_number("seed", seed, 0)
    if workers is not None:
        whole_number("workers", workers, 1, 10**4)
    opened = partial(
        sampled_from,
        env,
        policy,
        horizon=horizon,
        return_range=return_range,
        scale=scale,
        hidden=hidden,
        activation=activation,
        spread=spread,
        start=start,
    )
    if mechanism is None:
        mechanism = _WHOLE if epsilon is None else "threshold-bits"
    one_run = partial(_one_run, opened, learner, mechanism, epsilon, users, seed)
    started = time.perf_counter()
    with closing(opened()) as world:
        agents = build(learner, mechanism, world.problem, episodes=users, epsilon=epsilon)
        if world.together:
            threads = os.cpu_count() or 1 if workers is None else workers
            results = _in_threads(one_run, world, runs, threads, progress)
        elif workers is None or workers == 1 or runs == 1:
            results = [one_run(run, world, progress) for run in range(runs)]
        else:
            results = _in_processes(one_run, env, runs, workers, users, progress)
        name, best, unscaled = world.name, world.best, world.unscaled
    return Rollouts(
        name=name,
        epsilon=agents[1].guarantee.epsilon,
        users=results[0].users,
        earned=np.array([one.earned for one in results]),
        looks=results[0].looks,
        worth=np.array([one.worth for one in results]),
        policies=tuple(one.policy for one in results),
        best=best,
        unscaled=unscaled,
        seconds=time.perf_counter() - started,
    )


def _one_run(
    opened: Callable[[], SampledWorld],
    learner: str,
    mechanism: str,
    epsilon: float | None,
    users: int,
    seed: int,
    run: int,
    world: SampledWorld | None = None,
    progress: Progress | None = None,
    threads: int = 1,
) -> Rollout:
    """Simulate one run, in a world of its own if none is given."""
    if world is None:
        with closing(opened()) as own:
            return _one_run(opened, learner, mechanism, epsilon, users, seed, run, own)
    agent, randomizer = build(learner, mechanism, world.problem, episodes=users, epsilon=epsilon)

    def show(done: int) -> None:
        if progress is not None:
            progress(run, done)

    return roll_out(world, agent, randomizer, users, Streams(seed, run), show, threads)


def _in_threads(
    one_run: Callable[..., Rollout],
    world: SampledWorld,
    runs: int,
    workers: int,
    progress: Progress | None,
) -> list[Rollout]:
    """Share the runs among threads, and the blocks of each where there are fewer runs."""
    each = max(1, workers // runs)
    with ThreadPoolExecutor(min(workers, runs)) as pool:
        return list(pool.map(lambda run: one_run(run, world, progress, each), range(runs)))


def _in_processes(
    one_run: Callable[..., Rollout],
    env: object,
    runs: int,
    workers: int,
    users: int,
    progress: Progress | None,
) -> list[Rollout]:
    """Share the runs among processes, each of which makes the environment anew."""
    if not isinstance(env, str):
        raise InputError("workers", workers, "1, or an environment named as 'module:factory'")
    results = []
    with ProcessPoolExecutor(min(workers, runs), mp_context=get_context("spawn")) as pool:
        for run, result in enumerate(pool.map(one_run, range(runs))):
            results.append(result)
            if progress is not None:
                progress(run, users)
    return results
