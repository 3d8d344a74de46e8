"""Simulations on the cores of this machine, with one process for each."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections.abc import Generator, Sequence
from contextlib import suppress
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from typing import Protocol, Self, TypeVar, overload

from ldprl.experiments.cells import AnyCell, Cell, Result, StoppedError
from ldprl.simulation.engine import Simulation

Computed = TypeVar("Computed")
Computed_co = TypeVar("Computed_co", covariant=True)


class Computation(Protocol[Computed_co]):
    """The part of a cell that a worker process uses."""

    def compute(self) -> Computed_co:
        """Return the result; whatever goes wrong is a :class:`StoppedError`."""


@overload
def on_processes(cells: Sequence[Cell], workers: int) -> Generator[tuple[Cell, Simulation]]: ...
@overload
def on_processes(cells: Sequence[AnyCell], workers: int) -> Generator[tuple[AnyCell, Result]]: ...
def on_processes(cells: Sequence[AnyCell], workers: int) -> Generator[tuple[AnyCell, Result]]:
    """Compute ``cells`` on ``workers`` processes, and yield each as soon as it is done.

    Closing the iterator ends the processes.
    """
    with Processes(workers) as processes:
        work: Sequence[Computation[Result]] = cells
        for place, result in processes.compute(work):
            yield cells[place], result


class Processes:
    """Processes that compute; they start with the first work that they are given.

    Leaving the context ends them, and so does the end of this process, even by a kill.
    """

    def __init__(self, workers: int) -> None:
        self._workers = workers
        self._started: dict[Connection, BaseProcess] = {}

    def __enter__(self) -> Self:
        """Return the processes."""
        return self

    def __exit__(self, *_: object) -> None:
        """End the processes, whatever they are doing."""
        for process in self._started.values():
            process.kill()
        for process in self._started.values():
            process.join()

    def compute(self, work: Sequence[Computation[Computed]]) -> Generator[tuple[int, Computed]]:
        """Yield the place in ``work`` and the result of each as soon as it is done."""
        waiting = iter(range(len(work)))
        while len(self._started) < min(self._workers, len(work)):
            self._start()
        busy: dict[Connection, int] = {}
        for connection, place in zip(self._started, waiting, strict=False):
            _hand_over(connection, work[place])
            busy[connection] = place
        while busy:
            for ready in wait(list(busy)):
                assert isinstance(ready, Connection)
                place = busy.pop(ready)
                result = _receive(ready, work[place])
                for following in waiting:
                    _hand_over(ready, work[following])
                    busy[ready] = following
                    break
                yield place, result

    def _start(self) -> None:
        # A forked child could inherit a lock that a thread of ours holds.
        context = multiprocessing.get_context("spawn")
        ours, theirs = context.Pipe()
        process = context.Process(target=_serve, args=(theirs,), daemon=True)
        process.start()
        theirs.close()
        self._started[ours] = process


def _hand_over(connection: Connection, work: Computation[object]) -> None:
    # If the process is dead, that shows when its answer is read.
    with suppress(ConnectionError):
        connection.send(work)


def _receive(connection: Connection, work: Computation[Computed]) -> Computed:
    try:
        result: Computed | StoppedError = connection.recv()
    except (EOFError, ConnectionError):
        reason = "its process was killed; was there too little memory?"
        raise StoppedError(f"{work}: {reason}") from None
    if isinstance(result, StoppedError):
        raise result
    return result


def _serve(connection: Connection) -> None:
    """Compute incoming cells until the other side closes the connection."""
    # Ctrl-C reaches the whole group; what to do about it is the parent's decision.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    with suppress(EOFError, ConnectionError):
        while True:
            work: Computation[object] = connection.recv()
            try:
                result = work.compute()
            except StoppedError as failure:
                result = failure
            connection.send(result)


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    assert parent is not None
    parent.join()
    os._exit(1)
