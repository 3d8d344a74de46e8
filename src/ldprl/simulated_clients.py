"""Simulated users with real clients: they act in a known world and report to a real service."""

from __future__ import annotations

import itertools
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from queue import SimpleQueue

import numpy as np

from ldprl.client import Client, Outcome, RefusedError
from ldprl.client.forgetful import ForgetfulLedgerForTests
from ldprl.errors import InputError, instance_of, whole_number
from ldprl.mechanisms.sampling import InsecureSource
from ldprl.policies.parametric import ParametricPolicy
from ldprl.problem import Problem
from ldprl.simulation.regret import Recorder, RegretRecorder, checkpoints
from ldprl.worlds.episodes import EpisodeSampler
from ldprl.worlds.sampled import SampledWorld
from ldprl.worlds.tabular import TabularMDP

Played = tuple[Outcome, float | None]
"""What became of a user's report, and what the user has earned, if anybody asks."""
Player = Callable[[Client], Played]


class _StoppedError(Exception):
    """Ends a wait when everybody is to stop."""


class InTables:
    """Users of a known MDP, and the regret of the policies that they are given."""

    def __init__(self, mdp: TabularMDP, users: int) -> None:
        self.problem: Problem = mdp.shape
        self.recorder = RegretRecorder(mdp, checkpoints(users))
        self._mdp = mdp

    def player(self, rng: np.random.Generator) -> Player:
        """Return what lets one user after the other take part."""
        sampler = EpisodeSampler(self._mdp, rng)

        def play(client: Client) -> Played:
            try:
                return client.take_part(sampler.start, sampler.step), None
            except RefusedError as refused:
                return refused.outcome, None

        return play

    def record(self, outcome: Outcome, earned: float | None) -> None:
        """Record what such a user loses on average."""
        assert outcome.issued is not None
        self.recorder.add(1, self.recorder.loss(outcome.issued.assignment.table))


class InSampled:
    """Users of a world that can only be sampled, and what they earn in all.

    An episode is played as the world plays it, with the user's own policy; the client is told its
    return.
    """

    def __init__(self, world: SampledWorld, users: int) -> None:
        self.problem: Problem = world.problem
        self.recorder = Recorder(checkpoints(users))
        self._world = world
        self._turn = nullcontext() if world.together else threading.Lock()

    def player(self, rng: np.random.Generator) -> Player:
        """Return what lets one user after the other take part."""
        usual = self._world.problem.features.centre

        def play(client: Client) -> Played:
            episode = client.begin()
            issued = episode.issued
            assert issued is not None
            policy = instance_of("policy", issued.assignment.policy, ParametricPolicy)
            with self._turn:
                earned = float(self._world.returns(policy.parameters[None], rng)[0])
            episode.action(usual)
            episode.record(earned, terminated=True)
            try:
                return episode.report(), earned
            except RefusedError as refused:
                return refused.outcome, earned

        return play

    def record(self, outcome: Outcome, earned: float | None) -> None:
        """Record what a user has earned."""
        assert earned is not None
        self.recorder.add(1, earned)


class SimulatedClients:
    """Users who take part in a service one after the other, several at a time.

    Every user has a fresh id, draws from the operating system's generator, and sends a single
    report; those who share a thread share a connection.

    Parameters
    ----------
    url, digest
        The service, and its deployment.
    world
        What they act in: an MDP, or a world that can only be sampled.
    users, concurrency
        How many users, and how many at a time.
    seed
        Makes episodes and noise pseudo-random: for tests, without any privacy.
    patience
        Seconds for which a user keeps trying to reach the service.
    """

    def __init__(
        self,
        url: str,
        digest: str,
        world: TabularMDP | SampledWorld,
        users: int,
        concurrency: int = 8,
        seed: int | None = None,
        patience: float = 60.0,
    ) -> None:
        self.users = whole_number("users", users, 1)
        self._crowd: InTables | InSampled
        if isinstance(world, SampledWorld):
            given, self._crowd = "env", InSampled(world, users)
        else:
            given, self._crowd = "mdp", InTables(world, users)
        self._stopped = threading.Event()
        self._seeds = np.random.SeedSequence(seed).spawn(
            whole_number("concurrency", concurrency, 1)
        )
        self._clients = [
            Client(
                url,
                digest=digest,
                ledger=ForgetfulLedgerForTests(),
                source=None if seed is None else InsecureSource(own),
                wait=self._wait,
                patience=patience,
            )
            for own in self._seeds
        ]
        problem = self._clients[0].deployment.problem
        if problem != self._crowd.problem:
            self._clients[0].close()
            raise InputError(given, self._crowd.problem, f"that of the deployment, {problem}")
        self.statuses: Counter[str] = Counter()
        self.refused: Counter[str] = Counter()
        self.recorder = self._crowd.recorder
        self.seconds = 0.0

    def run(self, progress: Callable[[int, int], None] | None = None) -> None:
        """Let everybody take part; ``progress`` gets how many have, and how many will.

        An error ends it for all.
        """
        queue: SimpleQueue[Played | BaseException] = SimpleQueue()
        turns = iter(range(self.users))
        threads = [
            threading.Thread(target=self._work, args=(*pair, turns, queue), daemon=True)
            for pair in zip(self._clients, self._seeds, strict=True)
        ]
        started = time.perf_counter()
        try:
            for thread in threads:
                thread.start()
            for done in range(1, self.users + 1):
                result = queue.get()
                if isinstance(result, BaseException):
                    raise result
                self._record(*result)
                self.seconds = time.perf_counter() - started
                if progress is not None:
                    progress(done, self.users)
        finally:
            self._stopped.set()
            for thread in threads:
                thread.join()

    def curve(self) -> tuple[list[int], list[float]]:
        """Return numbers of users, and what they had lost on average, or earned, all together.

        Where the world is an MDP that is the regret of the policies that they had been given.
        """
        done = self.recorder.users
        points = [point for point in checkpoints(self.users).tolist() if point <= done]
        return points, self.recorder.curve[: len(points)].tolist()

    def _work(
        self,
        client: Client,
        seed: np.random.SeedSequence,
        turns: Iterator[int],
        queue: SimpleQueue[Played | BaseException],
    ) -> None:
        play = self._crowd.player(np.random.default_rng(seed.spawn(1)[0]))
        try:
            for _ in itertools.takewhile(lambda _: not self._stopped.is_set(), turns):
                queue.put(play(client))
        except BaseException as error:
            queue.put(error)
        finally:
            client.close()

    def _record(self, outcome: Outcome, earned: float | None) -> None:
        self.statuses[outcome.status] += 1
        if outcome.cause:
            self.refused[outcome.cause] += 1
        self._crowd.record(outcome, earned)

    def _wait(self, seconds: float) -> None:
        if self._stopped.wait(seconds):
            raise _StoppedError
