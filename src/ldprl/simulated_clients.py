"""Simulated users with real clients: they act in a known MDP and report to a real service."""

from __future__ import annotations

import itertools
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from queue import SimpleQueue

import numpy as np

from ldprl.client import Client, Outcome, RefusedError
from ldprl.client.forgetful import ForgetfulLedgerForTests
from ldprl.errors import InputError, whole_number
from ldprl.mechanisms.sampling import InsecureSource
from ldprl.shape import FloatArray
from ldprl.simulation.regret import RegretRecorder, checkpoints
from ldprl.worlds.tabular import TabularMDP


class _StoppedError(Exception):
    """Ends a wait when everybody is to stop."""


class EpisodeSampler:
    """Draws the episodes of one user after the other."""

    def __init__(self, mdp: TabularMDP, rng: np.random.Generator) -> None:
        self._rng = rng
        self._rewards = mdp.step_rewards
        self._bits = mdp.reward_kind == "bernoulli"
        self._starts = mdp.initial
        self._moves = mdp.step_transitions
        self._step = 0

    def start(self) -> int:
        """Begin an episode: return its first state."""
        self._step = 0
        return self._drawn(self._starts)

    def step(self, state: int, action: int) -> tuple[float, int]:
        """Return the reward of an action, and the next state."""
        place = (self._step, state, action)
        self._step += 1
        reward = float(self._rewards[place])
        if self._bits:
            reward = float(self._rng.random() < reward)
        return reward, self._drawn(self._moves[place])

    def _drawn(self, law: FloatArray) -> int:
        # Row by row: cumulated rows of every step would not fit into memory at 700 states.
        cumulated = np.cumsum(law)
        index = int(np.searchsorted(cumulated, self._rng.random() * cumulated[-1], side="right"))
        return min(index, len(cumulated) - 1)


class SimulatedClients:
    """Users who take part in a service one after the other, several at a time.

    Every user has a fresh id, draws from the operating system's generator, and sends a single
    report; those who share a thread share a connection.

    Parameters
    ----------
    url, digest
        The service, and its deployment.
    mdp
        The world they act in.
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
        mdp: TabularMDP,
        users: int,
        concurrency: int = 8,
        seed: int | None = None,
        patience: float = 60.0,
    ) -> None:
        self.users = whole_number("users", users, 1)
        self._mdp = mdp
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
        shape = self._clients[0].deployment.shape
        if shape != mdp.shape:
            self._clients[0].close()
            raise InputError("mdp", mdp.shape, f"that of the deployment, {shape}")
        self.statuses: Counter[str] = Counter()
        self.refused: Counter[str] = Counter()
        self.regret = RegretRecorder(mdp, checkpoints(users))
        self.seconds = 0.0

    def run(self, progress: Callable[[int, int], None] | None = None) -> None:
        """Let everybody take part; ``progress`` gets how many have, and how many will.

        An error ends it for all.
        """
        queue: SimpleQueue[Outcome | BaseException] = SimpleQueue()
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
                self._record(result)
                self.seconds = time.perf_counter() - started
                if progress is not None:
                    progress(done, self.users)
        finally:
            self._stopped.set()
            for thread in threads:
                thread.join()

    def curve(self) -> tuple[list[int], list[float]]:
        """Return numbers of users, and the regret of the policies that they had been given."""
        points = [point for point in checkpoints(self.users).tolist() if point <= self.regret.users]
        return points, self.regret.curve[: len(points)].tolist()

    def _work(
        self,
        client: Client,
        seed: np.random.SeedSequence,
        turns: Iterator[int],
        queue: SimpleQueue[Outcome | BaseException],
    ) -> None:
        sampler = EpisodeSampler(self._mdp, np.random.default_rng(seed.spawn(1)[0]))
        try:
            for _ in itertools.takewhile(lambda _: not self._stopped.is_set(), turns):
                try:
                    queue.put(client.take_part(sampler.start, sampler.step))
                except RefusedError as refused:
                    queue.put(refused.outcome)
        except BaseException as error:
            queue.put(error)
        finally:
            client.close()

    def _record(self, outcome: Outcome) -> None:
        self.statuses[outcome.status] += 1
        if outcome.cause:
            self.refused[outcome.cause] += 1
        assert outcome.issued is not None
        self.regret.add(1, self.regret.loss(outcome.issued.assignment.table))

    def _wait(self, seconds: float) -> None:
        if self._stopped.wait(seconds):
            raise _StoppedError
