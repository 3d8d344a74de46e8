"""The wall clock, as far as it can be believed: what its time closes is closed for good.

A clock that is set ahead by days, if only for seconds, would close versions for ever, and with them
all reports that a relay has accepted or that are on their way. So a jump ahead counts once it has
lasted for an hour. One back closes nothing, and counts at once.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

_STEP = 60.0
"""Seconds by which the wall clock may run ahead of the time that passes, at one look."""
_LASTING = 3600.0
"""Seconds after which a jump ahead is believed."""


class SteadyClock:
    """Seconds since 1970. What the wall clock says at the start is believed.

    Parameters
    ----------
    wall, running
        The clock that can be set, and one that only runs.
    """

    def __init__(
        self,
        wall: Callable[[], float] = time.time,
        running: Callable[[], float] = time.monotonic,
    ) -> None:
        self._wall, self._running = wall, running
        self._said, self._at = wall(), running()
        self._ahead_since: float | None = None
        self._lock = threading.Lock()

    def __call__(self) -> float:
        """Return the time."""
        with self._lock:
            wall, at = self._wall(), self._running()
            passed = self._said + at - self._at
            if wall <= passed + _STEP:
                self._ahead_since = None
            elif self._ahead_since is None:
                self._ahead_since = at
            lasting = self._ahead_since is None or at - self._ahead_since >= _LASTING
            self._said, self._at = wall if lasting else passed, at
            return self._said
