"""One computation for all who ask at the same time."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import Any


class Shared:
    """Runs ``make`` in a thread; whoever asks meanwhile, or soon after, gets the same result.

    Parameters
    ----------
    make
        Returns the result.
    seconds
        For how long a result is kept.
    busy
        The share of the time that ``make`` may run, at most: what took long is kept for longer,
        however often it is asked for. The first time does not count, as it may compile.
    """

    def __init__(self, make: Callable[[], Any], seconds: float, busy: float = 1.0) -> None:
        self._make = make
        self._seconds = seconds
        self._rest = 1 / busy - 1
        self._task: asyncio.Task[Any] | None = None
        self._result: Any = None
        self._made = float("-inf")
        self._took = 0.0

    async def get(self) -> Any:
        """Return a result that is as new as it may be."""
        if self._is_kept(self._seconds):
            return self._result
        if self._task is None:
            self._task = asyncio.create_task(self._run())
        return await asyncio.shield(self._task)

    async def get_within(self, patience: float) -> Any:
        """Return the same if it is there in time, else the result before, None at first."""
        try:
            async with asyncio.timeout(patience):
                return await self.get()
        except TimeoutError:
            # Nobody may be left who waits for it: others receive an exception from get().
            if self._task is not None:
                self._task.add_done_callback(lambda task: task.cancelled() or task.exception())
            return self._result

    def latest(self, seconds: float) -> Any:
        """Return the last result at once, None at first; renew an older one in the background."""
        if self._task is None and not self._is_kept(seconds):
            self._task = asyncio.create_task(self._run())
            # Nobody waits for this one; callers of get() receive the exception themselves.
            self._task.add_done_callback(lambda task: task.cancelled() or task.exception())
        return self._result

    def _is_kept(self, seconds: float) -> bool:
        return time.monotonic() - self._made < max(seconds, self._rest * self._took)

    async def _run(self) -> Any:
        started = time.monotonic()
        try:
            result = await asyncio.to_thread(self._make)
            self._took = 0.0 if self._result is None else time.monotonic() - started
            self._result, self._made = result, time.monotonic()
            return result
        finally:
            self._task = None
