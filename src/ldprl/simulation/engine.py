"""Simulate many users, in compiled code where learner and mechanism have it, else in Python."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from ldprl.errors import InputError, instance_of, one_of, whole_number
from ldprl.learning.learner import Learner
from ldprl.learnt.share import Learnt
from ldprl.mechanisms.mechanism import Guarantee, Mechanism
from ldprl.shape import Array, FloatArray, IntArray
from ldprl.simulation import interpreted
from ldprl.simulation.compiled_loop import engine_for
from ldprl.simulation.regret import checkpoints, standard_error
from ldprl.simulation.replan import Replan, Within, replan_from
from ldprl.simulation.rows import Rows, plotted
from ldprl.simulation.seeds import seeds_of
from ldprl.simulation.together import informed
from ldprl.statistics import MOST_USERS, Statistics
from ldprl.worlds.tabular import TabularMDP

if TYPE_CHECKING:
    from matplotlib.figure import Figure

EngineName = Literal["auto", "compiled", "interpreted"]


@dataclass(frozen=True)
class Simulation(Rows):
    """Regret of independent runs.

    Attributes
    ----------
    checkpoints
        Numbers of users, log-spaced.
    curves
        Cumulative regret, of shape (runs, checkpoints).
    guarantee
        The (ε, δ) that each user had.
    seconds
        Time the simulation took, without compiling.
    compile_seconds
        Time it took to compile, or to load what was compiled before.
    statistics
        The sums that each run ended with.
    learnt
        What they are worth, where that was asked for (:func:`ldprl.learnt.share.learnt`).
    """

    checkpoints: IntArray
    curves: FloatArray
    guarantee: Guarantee
    seconds: float
    compile_seconds: float = 0.0
    statistics: tuple[Statistics, ...] = ()
    learnt: Learnt | None = None

    @property
    def regret(self) -> FloatArray:
        """Total regret of each run."""
        return self.curves[:, -1]

    def columns(self) -> dict[str, Array]:
        """Return one row for each run and checkpoint: run, users and regret so far."""
        runs, points = self.curves.shape
        return {
            "run": np.repeat(np.arange(runs), points),
            "users": np.tile(self.checkpoints, runs),
            "regret": self.curves.ravel(),
        }

    def plot(self) -> Figure:
        """Draw the regret so far against the number of users, mean and two standard errors."""
        return plotted(self.checkpoints, self.curves, self._privacy, ylabel="regret")

    @property
    def _privacy(self) -> str:
        given = self.guarantee
        if not math.isfinite(given.epsilon):
            return "no privacy"
        return f"ε = {given.epsilon:g}, δ = {given.delta:g}"

    def __str__(self) -> str:
        """Three lines: what ran, what it cost, how long it took."""
        regret, users = self.regret, int(self.checkpoints[-1])
        mean, runs = regret.mean(), len(regret)
        error = f" ± {float(standard_error(regret)):.2g}" if runs > 1 else ""
        return (
            f"{runs} run{'s' * (runs > 1)} of {users:,} users, {self._privacy}\n"
            f"regret {mean:.4g}{error}, {mean / users:.3g} per user, worst run {regret.max():.4g}\n"
            f"{self.seconds:.2f} s, and {self.compile_seconds:.2f} s to compile"
        )


def simulate(
    mdp: TabularMDP,
    learner: Learner,
    mechanism: Mechanism,
    episodes: int,
    runs: int = 1,
    seed: int = 0,
    replan: str | Replan = "growth:0.01",
    progress: Callable[[int, int], None] | None = None,
    *,
    workers: int = 1,
    common_random_numbers: bool = False,
    engine: EngineName = "auto",
    status: Callable[[str], None] | None = None,
    memory: int | None = None,
    lag: int = 0,
) -> Simulation:
    """Simulate Algorithm 1; whatever the engine, the law is that of one user at a time.

    Parameters
    ----------
    mdp, learner, mechanism
        The world, who learns, and how users privatize. All must be of one shape.
    episodes, runs
        Users in a run, and independent runs.
    seed
        Run i depends on (seed, i) alone.
    replan
        ``"each"`` user, ``"growth:G"`` (the sums of the users between two plans are drawn at once,
        exactly in distribution), or a function of the number of users so far that says how many
        the next plan serves.
    progress
        Called with (run, users so far) now and then, and at the end of each run.
    workers
        Threads that share the runs. The result does not depend on it.
    common_random_numbers
        Whether users of every learner and mechanism meet the same world: what happens by chance
        then depends on (seed, run, user) alone, which makes differences between learners stand out.
    engine
        ``"compiled"`` needs a learner with a planner, a mechanism with a channel, and ``each`` or
        ``growth``, with a ``crowd`` or without: all of the catalogue's have them but LDP-WAYS and
        those for worlds that can only be sampled. ``"interpreted"`` takes any.
        ``"auto"`` takes the compiled one where it can. The two draw different numbers from the
        same laws.
    status
        Called with a line of text before a step that may take seconds: compiling.
    memory
        The number of latest users from whom plans are made, and whose growth counts; None: all
        users. Such a loop is interpreted.
    lag
        How many users begin before the first of them reports, as episodes take time
        (:class:`ldprl.arrivals.Calendar`): a plan of n reports is for users from n + lag on. Such a
        loop is interpreted.
    """
    whole_number("episodes", episodes, 1, MOST_USERS)
    whole_number("runs", runs, 1, 10**6)
    whole_number("seed", seed, 0)
    whole_number("workers", workers, 1, 10**4)
    instance_of("common_random_numbers", common_random_numbers, bool)
    one_of("engine", engine, ("auto", "compiled", "interpreted"))
    learner = informed(mdp, learner, mechanism)
    rule = replan_from(replan)
    whole_number("lag", lag, 0)
    if memory is not None:
        rule = Within(rule, memory)
    points = checkpoints(episodes)
    seeds = [
        seeds_of(seed, run, learner, mechanism, common=common_random_numbers) for run in range(runs)
    ]
    compiled = None
    if engine != "interpreted" and not lag:
        if status is not None:
            status(f"compiling {learner.name} with {mechanism.name}")
        compiled = engine_for(mdp, learner, mechanism, points, rule, seeds[0])
    if engine == "compiled" and compiled is None:
        expected = "'auto' with a memory, a lag, or what is not compiled: learner or mechanism"
        raise InputError("engine", engine, expected)

    def one_run(run: int) -> tuple[FloatArray, Statistics]:
        def show(users: int) -> None:
            if progress is not None:
                progress(run, users)

        if compiled is not None:
            return compiled.run(seeds[run], show)
        how = (points, rule, seeds[run], show, memory, lag)
        return interpreted.run(mdp, learner, mechanism, *how)

    started = time.perf_counter()
    with ThreadPoolExecutor(workers) as pool:
        results = list(pool.map(one_run, range(runs)))
    return Simulation(
        checkpoints=points,
        curves=np.array([curve for curve, _ in results]),
        guarantee=mechanism.guarantee,
        seconds=time.perf_counter() - started,
        compile_seconds=0.0 if compiled is None else compiled.compile_seconds,
        statistics=tuple(statistics for _, statistics in results),
    )
