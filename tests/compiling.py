"""Test processes compile one after the other: each finds what another has compiled in the cache.

Four that start together would compile the same kernels four times, 10 s of work each.
"""

from __future__ import annotations

import fcntl
import os
import threading
from pathlib import Path
from typing import Any

from numba.core import event


class OneAtATime(event.Listener):
    """Holds a lock on the folder of the cache while numba looks a kernel up, or compiles it."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._folder = os.open(folder, os.O_RDONLY)
        self._mutex = threading.Lock()
        self._depth = 0

    def on_start(self, _: Any) -> None:
        with self._mutex:
            if self._depth == 0:
                fcntl.flock(self._folder, fcntl.LOCK_EX)
            self._depth += 1

    def on_end(self, _: Any) -> None:
        with self._mutex:
            self._depth -= 1
            if self._depth == 0:
                fcntl.flock(self._folder, fcntl.LOCK_UN)

    def close(self) -> None:
        """Give the folder back."""
        os.close(self._folder)


def compile_one_at_a_time() -> None:
    """Take turns with the other processes that run these tests, if there are any."""
    folder = os.environ.get("NUMBA_CACHE_DIR")
    if folder and "PYTEST_XDIST_WORKER" in os.environ:
        turns = OneAtATime(Path(folder))
        event.register("numba:compiler_lock", turns)  # type: ignore[no-untyped-call]
