"""Several processes for one service: one that dies is replaced."""

from __future__ import annotations

import logging
import multiprocessing
import signal
import threading
from collections.abc import Callable
from multiprocessing.context import SpawnProcess

_log = logging.getLogger("ldprl.service")
_EVERY = 0.5
"""Seconds between two looks at whether a process has died."""


def supervise(work: Callable[[], None], count: int) -> None:
    """Run ``work`` in ``count`` processes until a signal arrives, then let them finish."""
    context = multiprocessing.get_context("spawn")
    stopping = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stopping.set())

    def start() -> SpawnProcess:
        process = context.Process(target=work)
        process.start()
        return process

    processes = [start() for _ in range(count)]
    while not stopping.wait(_EVERY):
        for place, process in enumerate(processes):
            if not process.is_alive():
                _log.warning("a worker ended with code %s: another starts", process.exitcode)
                processes[place] = start()
    for process in processes:
        process.terminate()
    for process in processes:
        process.join()
