"""One process compiles, however deep; the others wait until it is done."""

from __future__ import annotations

import fcntl
import os
from pathlib import Path

from tests.compiling import OneAtATime


def is_held(folder: Path) -> bool:
    """Whether another process would have to wait."""
    place = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(place, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(place)
    return False


def test_the_lock_is_held_until_the_outermost_kernel_is_compiled(tmp_path: Path) -> None:
    turns = OneAtATime(tmp_path / "cache")
    seen = []
    for change in (turns.on_start, turns.on_start, turns.on_end, turns.on_end):
        change(None)
        seen.append(is_held(tmp_path / "cache"))
    turns.close()
    assert seen == [True, True, True, False]
