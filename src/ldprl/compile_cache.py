"""A place for compiled code where neither the package nor the user's home can be written."""

from __future__ import annotations

import os
from pathlib import Path

_VARIABLE = "NUMBA_CACHE_DIR"


def provide_compile_cache() -> None:
    """Give numba a temporary folder if it would find no other, or it refuses to compile at all.

    The folder is this process's own and goes with it: code from a folder that others may write to
    would be theirs to choose.
    """
    home = Path(os.environ.get("XDG_CACHE_HOME") or Path("~/.cache").expanduser())
    if _VARIABLE in os.environ or _writable(Path(__file__).parent) or _writable(home):
        return
    import atexit
    import shutil
    import tempfile

    folder = tempfile.mkdtemp(prefix="ldprl-numba-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    os.environ[_VARIABLE] = folder


def _writable(folder: Path) -> bool:
    """Whether the folder, or the nearest one above it that exists, can be written to."""
    there = next(place for place in (folder, *folder.parents) if place.exists())
    return os.access(there, os.W_OK | os.X_OK)
