"""The loop in compiled code, for learners and mechanisms that answer with compiled parts."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from ldprl.errors import InputError
from ldprl.learning.learner import Learner
from ldprl.mechanisms.mechanism import Mechanism
from ldprl.shape import FloatArray, IntArray
from ldprl.simulation.replan import AtLeast, Growth, Replan, each
from ldprl.simulation.seeds import Seeds
from ldprl.statistics import Statistics
from ldprl.worlds.tabular import TabularMDP

if TYPE_CHECKING:
    from ldprl.learning.compiled import CompiledLearner

_EXACT = 2**53
"""Counters are doubles: whole numbers below this lose nothing."""
_STEPS_A_CALL = 2**25
"""Operations between two calls back to Python, where progress is shown and Ctrl-C is handled."""


def engine_for(
    mdp: TabularMDP,
    learner: Learner,
    mechanism: Mechanism,
    points: IntArray,
    rule: Replan,
    seeds: Seeds,
) -> Engine | None:
    """Return a compiled loop, or None where learner, mechanism or rule has no compiled part."""
    growing, _ = _parts(rule)
    known = growing is each or isinstance(growing, Growth)
    if not (known and learner.compiles() and mechanism.compiles) or find_spec("numba") is None:
        return None
    statistics = mechanism.no_statistics()
    # Sums that this learner cannot use are refused here, and more users than it can serve.
    last = replace(statistics, users=int(points[-1]) - 1)
    compiled = cast("CompiledLearner", learner)
    compiled.planner(last, np.random.default_rng(0))
    if mechanism.channel() is None or not (
        learner.private or mechanism.guarantee.epsilon == np.inf
    ):
        return None
    return Engine(mdp, compiled, mechanism, points, rule, seeds)


def _parts(rule: Replan) -> tuple[Replan, int]:
    """Return when a plan is due, and the least number of users that it serves."""
    if isinstance(rule, AtLeast):
        return rule.rule, rule.crowd
    return rule, 1


class Engine:
    """A compiled loop for one MDP, learner, mechanism and rule of when to plan.

    Building it compiles what is not in numba's cache: ``compile_seconds``.
    """

    def __init__(
        self,
        mdp: TabularMDP,
        learner: CompiledLearner,
        mechanism: Mechanism,
        points: IntArray,
        rule: Replan,
        seeds: Seeds,
    ) -> None:
        started = time.perf_counter()
        shape = mdp.shape
        most = _EXACT // (shape.horizon * (mechanism.resolution or 1))
        if points[-1] > most:
            raise InputError("episodes", int(points[-1]), f"at most {most}, to count exactly")
        self._mdp, self._learner, self._mechanism = mdp, learner, mechanism
        self._points, self._empty = points, mechanism.no_statistics()
        if self._empty.shape != shape:
            raise InputError("statistics.shape", self._empty.shape, f"that of the MDP, {shape}")
        planner = learner.planner(self._empty, np.random.default_rng(0))
        planner.buffer.check(shape)
        growing, self._least = _parts(rule)
        self._growth = growing.factor if isinstance(growing, Growth) else 0.0
        # A plan for each user, or users with tables of their own.
        work = 1 if planner.buffer.most_parts else shape.states**2 * shape.actions
        self._chunk = max(1, _STEPS_A_CALL // (work * shape.horizon))
        self.run(seeds, lambda users: None, until=0)
        self.compile_seconds = time.perf_counter() - started

    def run(
        self, seeds: Seeds, progress: Callable[[int], None], until: int | None = None
    ) -> tuple[FloatArray, Statistics]:
        """Return the regret at the checkpoints and the sums after ``until`` users (or all).

        Safe to call from several threads.
        """
        from ldprl.kernels.arrays import sums_of
        from ldprl.kernels.compiling import entry_for
        from ldprl.simulation import loops
        from ldprl.simulation.compiled_mdp import compiled_mdp_of
        from ldprl.simulation.random_policies import table_users_of

        channel: Any = self._mechanism.channel()
        planner = self._learner.planner(self._empty, np.random.default_rng(seeds.own))
        parts, squares = planner.buffer.most_parts, self._empty.squares is not None
        world: Any = (
            table_users_of(self._mdp, parts)
            if parts
            else compiled_mdp_of(self._mdp, self._mechanism.resolution, squares=squares)
        )
        counters = channel.counts.size if hasattr(channel, "noise") else 0
        run = loops.run_of(
            sums_of(self._empty), planner.buffer, self._points, seeds.world, seeds.own, counters
        )
        batches = self._growth > 0 or self._least > 1 or not counters
        loop: Any = loops.growth if batches else loops.each
        loop = entry_for(loop, (channel, planner))
        users, last = 0, int(self._points[-1]) if until is None else until
        while True:
            # Between calls progress is shown, and Ctrl-C is handled.
            end = min(2 * users + 1 if self._growth else last, last)
            if parts or not self._growth:
                end = min(end, users + self._chunk)
            often = (self._growth, self._least) if batches else ()
            loop(world, channel, planner, run, end, *often)
            users = int(run.sums.users[0])
            if users >= last:
                break
            progress(users)
        progress(users)
        return run.curve, run.sums.statistics(self._empty)
