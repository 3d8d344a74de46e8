"""Processes that share a file take turns, and none waits for ever for one that was stopped."""

from __future__ import annotations

import fcntl
import time
from pathlib import Path
from typing import IO

from ldprl.client.errors import BusyError

_LONGEST_TURN = 120.0
"""Seconds after which a turn is given up on: a turn is over in milliseconds, or one exchange."""
_PAUSE = 0.01


def take_turn(file: IO[bytes], path: Path, *, shared: bool = False) -> None:
    """Lock ``file`` until it is closed, or raise BusyError if another process keeps ``path``."""
    kind = fcntl.LOCK_SH if shared else fcntl.LOCK_EX
    deadline = time.monotonic() + _LONGEST_TURN
    while True:
        try:
            fcntl.flock(file, kind | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() > deadline:
                message = f"another process has had {path} for {_LONGEST_TURN:g} s"
                raise BusyError(message) from None
            time.sleep(_PAUSE)
        else:
            return
