"""Forked processes draw noise of their own."""

from __future__ import annotations

import os

from ldprl.mechanisms.sampling import RandomSource, SystemSource


class BufferedSource(SystemSource):
    """The mutant: draws bytes ahead, which a fork copies."""

    ahead = b""

    def random_bytes(self, count: int) -> bytes:
        if len(self.ahead) < count:
            self.ahead = os.urandom(4096)
        drawn, self.ahead = self.ahead[:count], self.ahead[count:]
        return drawn


def drawn_by_children(source: RandomSource) -> set[bytes]:
    """Return what two children of this process draw, after it has drawn itself."""
    source.below(1000)
    drawn = set()
    for _ in range(2):
        read, write = os.pipe()
        child = os.fork()
        if child == 0:
            os.write(write, source.below(2**128).to_bytes(16, "little"))
            os._exit(0)
        os.close(write)
        with os.fdopen(read, "rb") as pipe:
            drawn.add(pipe.read())
        os.waitpid(child, 0)
    return drawn


def test_children_draw_differently() -> None:
    """Two uniform 128-bit numbers coincide with probability 2⁻¹²⁸."""
    assert len(drawn_by_children(SystemSource())) == 2


def test_bytes_drawn_ahead_would_be_noticed() -> None:
    assert len(drawn_by_children(BufferedSource())) == 1
