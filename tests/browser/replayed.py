"""Random bits that were written down before."""

from __future__ import annotations

from ldprl.mechanisms.sampling import RandomSource


class ReplayedSourceForTests(RandomSource):
    """Hands out given bytes. Gives no privacy."""

    def __init__(self, content: bytes) -> None:
        self.content = content
        self.used = 0

    def random_bytes(self, count: int) -> bytes:
        if self.used + count > len(self.content):
            raise ValueError("no bytes left to replay")
        self.used += count
        return self.content[self.used - count : self.used]
