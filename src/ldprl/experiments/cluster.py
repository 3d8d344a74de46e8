"""The cells of a grid on a Ray cluster (extra ``[cluster]``)."""

from __future__ import annotations

import logging
import math
import subprocess
import sys
import time
from collections import deque
from collections.abc import Generator, Sequence
from types import ModuleType
from typing import Any

import ldprl
from ldprl.errors import InputError
from ldprl.experiments.cells import AnyCell, Result, StoppedError

_TASK_SECONDS = 1.0
"""Least duration of a task: Ray's overhead is small beside it."""
_MOST_CELLS = 1000
"""Most cells in a task, so that messages stay small."""
_RETRIES = 10
"""How often a task is started again after the loss of its node."""
_PATIENCE = 60
"""Seconds after which a cluster that has not answered is taken to be dead: on a busy machine it
takes half of that to import Ray and to connect."""
_PROBE = "import sys, ray; ray.init(address=sys.argv[1], log_to_driver=False)"


def on_cluster(cells: Sequence[AnyCell], address: str) -> Generator[tuple[AnyCell, Result]]:
    """Compute ``cells`` on the Ray cluster at ``address`` (or ``"auto"``), and yield the results.

    A task gets many cells and hands back, once a second has passed, those that it has finished;
    the others go back into the queue, so no core is left with more than its share.
    """
    if not cells:
        return
    ray = _connect(address)
    try:
        task = ray.remote(num_cpus=1, max_retries=_RETRIES)(_compute_some)
        waiting = deque(cells)
        flying: dict[Any, list[AnyCell]] = {}
        finished, spent = 0, 0.0
        while waiting or flying:
            # Twice the cores: the next task is there when one ends, and a cluster that can grow
            # sees that there is work.
            slots = max(1, 2 * int(ray.cluster_resources().get("CPU", 0)))
            while waiting and len(flying) < slots:
                size = _group_size(len(waiting), slots, spent / finished if finished else math.inf)
                group = [waiting.popleft() for _ in range(size)]
                flying[task.remote(group, ldprl.__version__)] = group
            ready, _ = ray.wait(list(flying), num_returns=1)
            group = flying.pop(ready[0])
            results = _results(ray, ready[0])
            waiting.extend(group[len(results) :])
            finished += len(results)
            spent += sum(result.seconds for result in results)
            yield from zip(group, results, strict=False)
    finally:
        ray.shutdown()


def _group_size(waiting: int, slots: int, seconds: float) -> int:
    """Divide the waiting cells among the slots, with at least a second of work for each task."""
    share, least = math.ceil(waiting / slots), math.ceil(_TASK_SECONDS / seconds)
    return min(max(share, least), waiting, _MOST_CELLS)


def _compute_some(cells: list[AnyCell], version: str) -> list[Result]:
    """Compute the first of ``cells``, until :data:`_TASK_SECONDS` have passed."""
    if ldprl.__version__ != version:
        raise StoppedError(f"a node of the cluster has ldprl {ldprl.__version__}, not {version}")
    started = time.monotonic()
    results: list[Result] = []
    while len(results) < len(cells) and time.monotonic() - started < _TASK_SECONDS:
        results.append(cells[len(results)].compute())
    return results


def _results(ray: ModuleType, reference: Any) -> list[Result]:
    try:
        results: list[Result] = ray.get(reference)
    except ray.exceptions.RayTaskError as error:
        raise StoppedError(str(error.cause)) from None
    except ray.exceptions.RayError as error:
        raise StoppedError(f"the cluster gave up on a task: {error}") from None
    return results


def _connect(address: str) -> ModuleType:
    """Connect to a running cluster, or raise an error with the reason after a minute.

    Ray itself may wait for minutes and then end the process, so a child tries first.
    """
    try:
        import ray
    except ModuleNotFoundError:
        expected = "Ray to be installed: pip install 'ldprl[cluster]'"
        raise InputError("cluster", address, expected) from None
    probe = [sys.executable, "-c", _PROBE, address]
    try:
        subprocess.run(probe, timeout=_PATIENCE, check=True, capture_output=True, text=True)
    except subprocess.TimeoutExpired:
        expected = f"the address of a Ray cluster (no answer within {_PATIENCE} s)"
        raise InputError("cluster", address, expected) from None
    except subprocess.CalledProcessError as error:
        reason = error.stderr.strip().rpartition("\n")[2]
        raise InputError("cluster", address, f"the address of a Ray cluster ({reason})") from None
    ray.init(address=address, log_to_driver=False, logging_level=logging.ERROR)
    module: ModuleType = ray
    return module
