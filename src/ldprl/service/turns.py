"""One thread for what would hold the event loop too long; addresses take turns."""

from __future__ import annotations

import asyncio
from collections import OrderedDict, deque
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

_T = TypeVar("_T")


class Turns:
    """Runs one piece of work at a time, in turn for each address that has some.

    So another address waits for one piece of work of each of the others, however many requests
    these have made. How many can wait is bounded by :class:`~ldprl.service.limits.Gate`. To be used
    from one event loop.
    """

    def __init__(self) -> None:
        self._thread = ThreadPoolExecutor(1, "ldprl-turns")
        self._working = False
        self._waiting: OrderedDict[str, deque[asyncio.Future[None]]] = OrderedDict()

    async def run(self, address: str, work: Callable[[], _T]) -> _T:
        """Return what ``work`` returns, when it is this address's turn."""
        loop = asyncio.get_running_loop()
        if self._working:
            turn = loop.create_future()
            self._waiting.setdefault(address, deque()).append(turn)
            try:
                await turn
            except asyncio.CancelledError:
                if not turn.cancelled():
                    self._next()
                raise
        self._working = True
        try:
            return await loop.run_in_executor(self._thread, work)
        finally:
            self._next()

    def close(self) -> None:
        """Finish the work at hand."""
        self._thread.shutdown()

    def _next(self) -> None:
        """Give the turn to the next address, which then waits behind the others."""
        self._working = False
        while self._waiting:
            address, turns = self._waiting.popitem(last=False)
            turn = turns.popleft()
            if turns:
                self._waiting[address] = turns
            if not turn.cancelled():
                # Taken at once: work that comes before the waiting task runs must wait, too.
                self._working = True
                turn.set_result(None)
                return
