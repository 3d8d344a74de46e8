"""The loop in compiled code, for the catalogue's mechanisms and learners."""

from __future__ import annotations

import time
from collections.abc import Callable
from importlib.util import find_spec

from ldprl.errors import InputError
from ldprl.learning.ldp_obi import LDPOBI
from ldprl.learning.ldp_psrl import LDPPSRL
from ldprl.learning.learner import Learner
from ldprl.learning.psrl import PSRL
from ldprl.learning.ucb_vi import UCBVI, UCBVIBernstein
from ldprl.mdp.tabular import TabularMDP
from ldprl.mechanisms.bounded_noise import BoundedNoise
from ldprl.mechanisms.counting import CountingMechanism
from ldprl.mechanisms.gaussian import Gaussian
from ldprl.mechanisms.laplace import Laplace
from ldprl.mechanisms.mechanism import Mechanism
from ldprl.mechanisms.none import NoPrivacy
from ldprl.mechanisms.randomized_response import RandomizedResponse
from ldprl.mechanisms.shuffle import Shuffle
from ldprl.shape import FloatArray, IntArray
from ldprl.simulation.schedule import Growth, Schedule, each
from ldprl.simulation.seeds import Seeds
from ldprl.statistics import Statistics

_MECHANISMS = (NoPrivacy, Laplace, Gaussian, RandomizedResponse, BoundedNoise, Shuffle)
_LEARNERS = (LDPOBI, LDPPSRL, UCBVI, UCBVIBernstein, PSRL)
_EXACT = 2**53
"""Counters are doubles: whole numbers below this lose nothing."""
_PLANS_AHEAD = 256
_STEPS_A_CALL = 2**25


def can_compile(learner: Learner, mechanism: Mechanism, schedule: Schedule) -> bool:
    """Whether the compiled engines know these; a class of one's own they do not."""
    return (
        type(mechanism) in _MECHANISMS
        and type(learner) in _LEARNERS
        and (type(mechanism) is NoPrivacy or learner.private)
        and (schedule is each or isinstance(schedule, Growth))
        and find_spec("numba") is not None
    )


class Engine:
    """A compiled loop for one MDP, learner, mechanism and schedule.

    Building it compiles what is not in numba's cache: ``compile_seconds``.
    """

    def __init__(
        self,
        mdp: TabularMDP,
        learner: Learner,
        mechanism: CountingMechanism,
        points: IntArray,
        schedule: Schedule,
        seeds: Seeds,
    ) -> None:
        started = time.perf_counter()
        from ldprl.simulation.kernels import mechanisms, setup

        shape = mdp.shape
        most = _EXACT // (shape.horizon * (mechanism.layout.resolution or 1))
        if points[-1] > most:
            raise InputError("episodes", int(points[-1]), f"at most {most}, to count exactly")
        self._learner, self._mechanism, self._points = learner, mechanism, points
        self._growth = schedule.factor if isinstance(schedule, Growth) else None
        self._world = setup.world_of(mdp, mechanism)
        self._noise = mechanisms.noise_of(mechanism)
        self._decoding = mechanisms.decoding_of(mechanism)
        self._chunk = max(1, _STEPS_A_CALL // (shape.states**2 * shape.actions * shape.horizon))
        self.run(seeds, lambda users: None, until=0)
        self.compile_seconds = time.perf_counter() - started

    def run(
        self, seeds: Seeds, progress: Callable[[int], None], until: int | None = None
    ) -> tuple[FloatArray, Statistics]:
        """Return the regret at the checkpoints and the sums after ``until`` users (or all).

        Safe to call from several threads.
        """
        from ldprl.simulation import kernels
        from ldprl.simulation.kernels import setup

        ahead = _PLANS_AHEAD if self._growth is None else 1
        learner = setup.learner_of(self._learner, self._mechanism, ahead)
        run = setup.run_of(self._mechanism, self._points, seeds, self._noise.draws_each)
        given = (self._world, self._noise, learner, run)
        users, last = 0, int(self._points[-1]) if until is None else until
        while True:
            # Between calls progress is told, and Ctrl-C is heard.
            if self._growth is None:
                kernels.each(*given, min(users + self._chunk, last))
            else:
                kernels.growth(*given, min(2 * users + 1, last), self._growth)
            users = int(run.clock[0])
            if users >= last:
                break
            progress(users)
        progress(users)
        return run.curve, setup.statistics_of(run, self._mechanism, self._decoding)
