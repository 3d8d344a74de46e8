"""The cells of a grid on the cores of this machine, with one process for each."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections.abc import Generator, Sequence
from contextlib import suppress
from multiprocessing.connection import Connection, wait
from typing import Protocol, TypeVar

from ldprl.experiments.cells import StoppedError
from ldprl.simulation.engine import Simulation


class Computation(Protocol):
    """The part of a cell that a worker process uses."""

    def compute(self) -> Simulation:
        """Run the simulation; whatever goes wrong is a :class:`StoppedError`."""


AnyCell = TypeVar("AnyCell", bound=Computation)


def on_processes(cells: Sequence[AnyCell], workers: int) -> Generator[tuple[AnyCell, Simulation]]:
    """Compute ``cells`` on ``workers`` processes, and yield each as soon as it is done.

    Closing the iterator ends the processes, and so does the end of this one, even by a kill.
    """
    # A forked child could inherit a lock that a thread of ours holds.
    context = multiprocessing.get_context("spawn")
    waiting = iter(cells)
    busy: dict[Connection, AnyCell] = {}
    processes = []
    try:
        for _, cell in zip(range(workers), waiting, strict=False):
            ours, theirs = context.Pipe()
            process = context.Process(target=_serve, args=(theirs,), daemon=True)
            process.start()
            theirs.close()
            processes.append(process)
            _hand_over(ours, cell)
            busy[ours] = cell
        while busy:
            for connection in wait(list(busy)):
                assert isinstance(connection, Connection)
                cell = busy.pop(connection)
                result = _receive(connection, cell)
                for following in waiting:
                    _hand_over(connection, following)
                    busy[connection] = following
                    break
                yield cell, result
    finally:
        for process in processes:
            process.kill()
        for process in processes:
            process.join()


def _hand_over(connection: Connection, cell: Computation) -> None:
    # If the process is dead, that shows when its answer is read.
    with suppress(ConnectionError):
        connection.send(cell)


def _receive(connection: Connection, cell: Computation) -> Simulation:
    try:
        result = connection.recv()
    except (EOFError, ConnectionError):
        reason = "its process was killed; was there too little memory?"
        raise StoppedError(f"{cell}: {reason}") from None
    if isinstance(result, StoppedError):
        raise result
    assert isinstance(result, Simulation)
    return result


def _serve(connection: Connection) -> None:
    """Compute incoming cells until the other side closes the connection."""
    # Ctrl-C reaches the whole group; what to do about it is the parent's decision.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    with suppress(EOFError, ConnectionError):
        while True:
            cell: Computation = connection.recv()
            try:
                result: Simulation | StoppedError = cell.compute()
            except StoppedError as failure:
                result = failure
            connection.send(result)


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    assert parent is not None
    parent.join()
    os._exit(1)
