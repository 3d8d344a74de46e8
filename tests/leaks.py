"""What tests leave behind in the process that runs them."""

from __future__ import annotations

import gc
import os
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

PATIENCE = 5.0
"""Seconds for what ends by itself: threads of libraries close files a moment after they return."""
_PROC = Path("/proc/self")
# Matplotlib keeps the fonts open that it has read.
_INSTALLED = str(Path(sys.prefix).resolve())


def held() -> frozenset[str]:
    """Return the threads of this process, and where /proc lists them its files and children."""
    threads = {f"thread {thread.name}" for thread in threading.enumerate()}
    return frozenset(threads.union(_files(), _children()))


def kept_since(before: frozenset[str]) -> list[str]:
    """Return what is held now and was not before, after what is garbage has been collected."""
    deadline = time.monotonic() + PATIENCE
    while new := held() - before:
        if time.monotonic() > deadline:
            return sorted(new)
        # What nothing refers to warns here, in the test that dropped it.
        gc.collect()
        time.sleep(0.01)
    return []


def _files() -> Iterator[str]:
    for number in _listed(_PROC / "fd"):
        try:
            target = os.readlink(_PROC / "fd" / number)
        except OSError:
            continue
        if not target.startswith(_INSTALLED):
            yield f"file {number}: {target}"


def _children() -> Iterator[str]:
    for thread in _listed(_PROC / "task"):
        try:
            numbers = (_PROC / "task" / thread / "children").read_text(encoding="ascii").split()
        except OSError:
            continue
        for number in numbers:
            yield f"process {number}"


def _listed(folder: Path) -> list[str]:
    return os.listdir(folder) if folder.exists() else []
