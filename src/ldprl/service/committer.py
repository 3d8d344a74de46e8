"""Group commit: waiting reports are written in one transaction; responses are sent after it."""

from __future__ import annotations

import asyncio
import logging
import threading
import time
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from ldprl.service.causes import DelayedError
from ldprl.service.database.protocol import Admitted, Database, Verdict
from ldprl.service.metrics import Metrics

_LARGEST_COMMIT = 4000
"""Reports in one transaction, unless a single request has more."""
_IDLE = 0.5
"""Seconds between two looks for refusals to write while no report comes."""
_log = logging.getLogger("ldprl.service")

Verdicts = asyncio.Future[list[Verdict]]


class _Waiting(NamedTuple):
    reports: Sequence[Admitted]
    verdicts: Verdicts


class Committer:
    """Takes admitted reports from the event loop; one thread writes them.

    Parameters
    ----------
    database
        Where to.
    metrics
        Records how long each commit took.
    capacity
        How many reports may wait; more are turned away at once, so memory stays bounded.
    """

    def __init__(self, database: Database, metrics: Metrics, capacity: int = 20_000) -> None:
        self._database = database
        self._metrics = metrics
        self._capacity = capacity
        self._changed = threading.Condition()
        self._queue: list[_Waiting] = []
        self._refused: Counter[str] = Counter()
        self._closing = False
        self.waiting = 0
        self._thread = threading.Thread(target=self._run, name="ldprl-committer", daemon=True)

    def start(self) -> None:
        """Write from now on."""
        self._thread.start()

    def close(self) -> None:
        """Write what waits, and stop."""
        with self._changed:
            self._closing = True
            self._changed.notify()
        self._thread.join()

    def submit(self, reports: Sequence[Admitted]) -> Verdicts:
        """Return a future that says, after the commit, what became of each report."""
        verdicts: Verdicts = asyncio.get_running_loop().create_future()
        with self._changed:
            # A request larger than all there is room for is taken when nothing else waits.
            full = self.waiting and self.waiting + len(reports) > self._capacity
            if full or self._closing:
                raise DelayedError("overloaded", f"{self.waiting} reports wait to be committed")
            first = not self._queue
            self._queue.append(_Waiting(reports, verdicts))
            self.waiting += len(reports)
        if first:
            # Once the event loop is through with what arrived together: that is one commit, and
            # two threads that want the interpreter at the same time take it from each other.
            verdicts.get_loop().call_soon(self._wake)
        return verdicts

    def _wake(self) -> None:
        with self._changed:
            self._changed.notify()

    def note(self, cause: str, count: int = 1) -> None:
        """Have refused reports counted with the next commit."""
        with self._changed:
            self._refused[cause] += count

    def pending(self) -> Counter[str]:
        """Return the refusals that are not written yet."""
        with self._changed:
            return Counter(self._refused)

    def _run(self) -> None:
        while True:
            with self._changed:
                if not self._queue and not self._closing:
                    self._changed.wait(_IDLE)
                taken, self._queue = _split(self._queue)
                refused, self._refused = self._refused, Counter()
                finished = self._closing and not self._queue
            if taken or refused:
                self._commit(taken, refused)
            if finished:
                return

    def _commit(self, taken: list[_Waiting], refused: Counter[str]) -> None:
        reports = [report for one in taken for report in one.reports]
        result: list[Verdict] | Exception
        started = time.perf_counter()
        try:
            result = self._database.commit(reports, refused)
            self._metrics.commits.observe(time.perf_counter() - started)
        except Exception as error:
            if not isinstance(error, DelayedError):
                # The message might quote a report; its kind does not.
                _log.error("a commit failed: %s", type(error).__name__)
            result = error
        with self._changed:
            self.waiting -= len(reports)
            if isinstance(result, Exception):
                self._refused.update(refused)
        if taken:
            loop = taken[0].verdicts.get_loop()
            loop.call_soon_threadsafe(_settle, taken, result)


def _split(queue: list[_Waiting]) -> tuple[list[_Waiting], list[_Waiting]]:
    """Return the requests for one commit, and those that wait for the next."""
    size = 0
    for place, one in enumerate(queue):
        size += len(one.reports)
        if size > _LARGEST_COMMIT and place:
            return queue[:place], queue[place:]
    return queue, []


def _settle(taken: list[_Waiting], result: list[Verdict] | Exception) -> None:
    """Settle the requests of one commit; clients that disconnected are skipped."""
    start = 0
    for one in taken:
        end = start + len(one.reports)
        if not one.verdicts.done():
            if isinstance(result, Exception):
                one.verdicts.set_exception(result)
            else:
                one.verdicts.set_result(result[start:end])
        start = end
