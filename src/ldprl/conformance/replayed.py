"""Random bits that were written down before."""

from __future__ import annotations

import hashlib

from ldprl.mechanisms.sampling import RandomSource

_STREAM = 200_000


class ReplayedSourceForTests(RandomSource):
    """Hands out given bytes. Gives no privacy."""

    def __init__(self, content: bytes) -> None:
        self.content = content
        self.used = 0

    def random_bytes(self, count: int) -> bytes:
        """Return the next ``count`` bytes."""
        if self.used + count > len(self.content):
            raise ValueError("no bytes left to replay")
        self.used += count
        return self.content[self.used - count : self.used]


def stream(name: str, first: bytes = b"", count: int = _STREAM) -> ReplayedSourceForTests:
    """Return bytes that depend on ``name`` alone, after the ``first`` ones."""
    return ReplayedSourceForTests(first + hashlib.shake_256(name.encode()).digest(count))


def used(source: ReplayedSourceForTests) -> str:
    """Return the bytes that were asked for, in hex."""
    return source.content[: source.used].hex()
