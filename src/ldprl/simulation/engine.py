"""The loop in silico: plan, draw the sums of the users until the next plan, add them up."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ldprl.errors import whole_number
from ldprl.learning.learner import Learner
from ldprl.mdp.tabular import TabularMDP
from ldprl.privacy.mechanism import Guarantee, Mechanism
from ldprl.shape import FloatArray, IntArray
from ldprl.simulation.regret import RegretRecorder, checkpoints
from ldprl.simulation.schedule import Schedule, schedule_from
from ldprl.simulation.world import check_shapes, draw_totals
from ldprl.statistics import Statistics


@dataclass(frozen=True)
class Simulation:
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
        Time the simulation took.
    """

    checkpoints: IntArray
    curves: FloatArray
    guarantee: Guarantee
    seconds: float

    @property
    def regret(self) -> FloatArray:
        """Total regret of each run."""
        return self.curves[:, -1]


def simulate(
    mdp: TabularMDP,
    learner: Learner,
    mechanism: Mechanism,
    episodes: int,
    runs: int = 1,
    seed: int = 0,
    replan: str | Schedule = "growth:0.01",
    progress: Callable[[int, int], None] | None = None,
) -> Simulation:
    """Simulate Algorithm 1 with exact batches: the law is that of one user at a time.

    Parameters
    ----------
    mdp, learner, mechanism
        The world, who learns, and how users privatize. All must be of one shape.
    episodes, runs
        Users in a run, and independent runs.
    seed
        Run i depends on (seed, i) alone.
    replan
        ``"each"`` user, ``"growth:G"``, or a function of the number of users so far that says
        how many the next plan serves.
    progress
        Called with (run, users so far) after each batch.
    """
    whole_number("episodes", episodes, 1)
    whole_number("runs", runs, 1)
    whole_number("seed", seed, 0)
    check_shapes(mdp, mechanism)
    schedule = schedule_from(replan)
    points = checkpoints(episodes)
    started = time.perf_counter()
    curves = np.empty((runs, len(points)))
    for run in range(runs):
        recorder = RegretRecorder(mdp, points)
        rng = np.random.default_rng([seed, run])
        statistics = mechanism.no_statistics()
        while recorder.users < episodes:
            users = min(schedule(recorder.users), episodes - recorder.users)
            statistics += batch(mdp, learner, mechanism, statistics, users, rng, recorder)
            if progress is not None:
                progress(run, recorder.users)
        curves[run] = recorder.curve
    return Simulation(points, curves, mechanism.guarantee, time.perf_counter() - started)


def batch(
    mdp: TabularMDP,
    learner: Learner,
    mechanism: Mechanism,
    statistics: Statistics,
    users: int,
    rng: np.random.Generator,
    recorder: RegretRecorder,
) -> Statistics:
    """Plan once, serve ``users`` users, and return the sums of their decoded reports."""
    assignments = mechanism.ask(learner.plan(statistics, rng))
    groups = rng.multinomial(users, [assignment.share for assignment in assignments])
    gathered = mechanism.no_statistics()
    lost = 0.0
    for assignment, group in zip(assignments, groups.tolist(), strict=True):
        if group:
            totals = draw_totals(mdp, assignment.policy, group, mechanism.resolution, rng)
            tally = mechanism.sample_tally(totals, assignment, rng)
            gathered += mechanism.decode(tally, group, assignment)
            lost += group * recorder.loss(assignment.policy)
    recorder.add(users, lost / users)
    return gathered
