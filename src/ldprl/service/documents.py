"""Documents that never change and are the same for all: written once, and kept as bytes."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable

from ldprl.service.turns import Turns

MOST_BYTES = 64 * 2**20
"""Most bytes of documents that are kept: those that were asked for last."""


class Documents:
    """Bytes by name: all who ask get the same object, so that responses share its memory."""

    def __init__(self, turns: Turns, most_bytes: int = MOST_BYTES) -> None:
        self._turns = turns
        self._most = most_bytes
        self._kept: OrderedDict[Hashable, bytes] = OrderedDict()
        self._size = 0

    async def get(self, name: Hashable, address: str, write: Callable[[], bytes]) -> bytes:
        """Return a document; written off the event loop, in turn with the work of others.

        What ``write`` raises is raised, and then nothing is kept.
        """

        def known_or_written() -> bytes:
            # Somebody who asked for the same may have had the turn before.
            return self._kept.get(name) or write()

        found = self._kept.get(name)
        if found is None:
            found = await self._turns.run(address, known_or_written)
        self._keep(name, found)
        return found

    def _keep(self, name: Hashable, document: bytes) -> None:
        """Put a document last, and forget the first ones that there is no room for."""
        self._size += len(document) - len(self._kept.pop(name, b""))
        self._kept[name] = document
        while self._size > self._most:
            _, forgotten = self._kept.popitem(last=False)
            self._size -= len(forgotten)
