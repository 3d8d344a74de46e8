"""Learn a policy in any environment from private bits: the front door of simulations."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor, wait
from contextlib import closing
from functools import partial
from multiprocessing import get_context
from multiprocessing.queues import SimpleQueue
from typing import Protocol

import numpy as np

from ldprl.catalogue import build
from ldprl.errors import InputError, whole_number
from ldprl.mechanisms.none import NoPrivacy
from ldprl.simulation.rollouts import NothingYetError, Rollout, Streams, roll_out
from ldprl.simulation.runs import Rollouts
from ldprl.statistics import MOST_USERS
from ldprl.worlds.sampled import SampledWorld
from ldprl.worlds.sampled_from import sampled_from

_WHOLE = "ldprl.mechanisms.whole_return:WholeReturn"
_BETWEEN_GLANCES = 0.2
"""Seconds between two looks at whether runs in other processes are to stop."""
Progress = Callable[[int, int], None]


class Stop(Protocol):
    """Says when to stop: a ``threading.Event``, or anything else that can be set."""

    def is_set(self) -> bool:
        """Whether it is time."""


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
    stop: Stop | None = None,
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
        The unit σ₀ of a parameter, and the parameters to start from or a file of them: 1 and zeros
        by default.
    learner, mechanism
        By name, or one's own as ``module:Class``; mechanism ``"none"`` is the whole return.
    workers
        Threads where the world is compiled or made of contexts, None one for each core; else
        processes that share the runs, None one. The result does not depend on it.
    progress
        Called with (run, users so far) after each version.
    stop
        Looked at before each version: once it is set, what there is by then is returned.

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
    mechanism = mechanism_for(mechanism, epsilon)
    stopped = (lambda: False) if stop is None else stop.is_set
    one_run = partial(_one_run, opened, learner, mechanism, epsilon, users, seed)
    started = time.perf_counter()
    with closing(opened()) as world:
        agents = build(learner, mechanism, world.problem, episodes=users, epsilon=epsilon)
        if world.together:
            threads = os.cpu_count() or 1 if workers is None else workers
            found = _in_threads(one_run, world, runs, threads, progress, stopped)
        elif workers is None or workers == 1 or runs == 1:
            found = [one_run(run, world, progress, stopped) for run in range(runs)]
        else:
            found = _in_processes(one_run, env, runs, workers, progress, stopped)
        name, best, unscaled = world.name, world.best, world.unscaled
    begun = [one for one in found if one is not None]
    if not begun:
        raise KeyboardInterrupt  # stopped before the first version: there is no answer
    results = [one for one in begun if one.users[-1] == users]
    complete = len(results) == runs
    results = results or [max(begun, key=lambda one: int(one.users[-1]))]
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
        complete=complete,
    )


def mechanism_for(mechanism: str | None, epsilon: float | None) -> str:
    """Return the mechanism that a name or its absence stands for in a sampled world."""
    if mechanism == NoPrivacy.name and epsilon is not None:
        raise InputError("epsilon", epsilon, "none without privacy")
    if mechanism == NoPrivacy.name or (mechanism is None and epsilon is None):
        return _WHOLE
    return mechanism or "threshold-bits"


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
    stopped: Callable[[], bool] = lambda: False,
    threads: int = 1,
) -> Rollout | None:
    """Simulate one run, in a world of its own if none is given."""
    if world is None:
        with closing(opened()) as own:
            return _one_run(
                opened, learner, mechanism, epsilon, users, seed, run, own, progress, stopped
            )
    agent, randomizer = build(learner, mechanism, world.problem, episodes=users, epsilon=epsilon)

    def show(done: int) -> None:
        if progress is not None:
            progress(run, done)

    try:
        return roll_out(world, agent, randomizer, users, Streams(seed, run), show, threads, stopped)
    except NothingYetError:
        return None


def _in_threads(
    one_run: Callable[..., Rollout | None],
    world: SampledWorld,
    runs: int,
    workers: int,
    progress: Progress | None,
    stopped: Callable[[], bool],
) -> list[Rollout | None]:
    """Share the runs among threads, and the blocks of each where there are fewer runs."""
    each = max(1, workers // runs)
    with ThreadPoolExecutor(min(workers, runs)) as pool:
        return list(pool.map(lambda run: one_run(run, world, progress, stopped, each), range(runs)))


def _in_processes(
    one_run: Callable[..., Rollout | None],
    env: object,
    runs: int,
    workers: int,
    progress: Progress | None,
    stopped: Callable[[], bool],
) -> list[Rollout | None]:
    """Share the runs among processes, each of which makes the environment anew."""
    if not isinstance(env, str):
        raise InputError("workers", workers, "1, or an environment named as 'module:factory'")
    context = get_context("spawn")
    over, told = context.Event(), context.SimpleQueue()
    with (
        closing(told),
        ProcessPoolExecutor(min(workers, runs), context, _in_process, (over, told)) as pool,
    ):
        try:
            results = [pool.submit(_in_turn, one_run, run) for run in range(runs)]
            waiting = set(results)
            while waiting:
                ready, waiting = wait(waiting, timeout=_BETWEEN_GLANCES)
                for result in ready:
                    result.result()  # what went wrong in one ends all
                while not told.empty():
                    (progress or (lambda *_: None))(*told.get())
                if stopped():
                    over.set()
        finally:
            # Whatever ends this, the others stop at their next version.
            over.set()
            pool.shutdown(cancel_futures=True)
    return [result.result() for result in results]


_shared: tuple[Stop, SimpleQueue[tuple[int, int]]]
"""In a process of :func:`_in_processes`: when to stop, and where to say how far one is."""


def _in_process(over: Stop, told: SimpleQueue[tuple[int, int]]) -> None:
    """Begin in a process: Ctrl-C reaches the whole group, and the parent decides what it means."""
    global _shared  # noqa: PLW0603  (it is handed to a process when it starts, and not later)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _shared = over, told


def _in_turn(one_run: Callable[..., Rollout | None], run: int) -> Rollout | None:
    over, told = _shared
    return one_run(run, progress=lambda *done: told.put(done), stopped=over.is_set)
