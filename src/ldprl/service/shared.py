"""One computation for all who ask at the same time."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import Any


class Shared:
    """Runs ``make`` in a thread; whoever asks meanwhile, or soon after, gets the same result."""

    def __init__(self, make: Callable[[], Any], seconds: float) -> None:
        self._make = make
        self._seconds = seconds
        self._task: asyncio.Task[Any] | None = None
        self._result: Any = None
        self._made = float("-inf")

    async def get(self) -> Any:
        """Return a result that is at most ``seconds`` old."""
        if time.monotonic() - self._made < self._seconds:
            return self._result
        if self._task is None:
            self._task = asyncio.create_task(self._run())
        return await asyncio.shield(self._task)

    def latest(self, seconds: float) -> Any:
        """Return the last result at once, None at first; renew an older one in the background."""
        if self._task is None and time.monotonic() - self._made >= seconds:
            self._task = asyncio.create_task(self._run())
            # Nobody waits for this one; callers of get() receive the exception themselves.
            self._task.add_done_callback(lambda task: task.cancelled() or task.exception())
        return self._result

    async def _run(self) -> Any:
        try:
            result = await asyncio.to_thread(self._make)
            self._result, self._made = result, time.monotonic()
            return result
        finally:
            self._task = None
