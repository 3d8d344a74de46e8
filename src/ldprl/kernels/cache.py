"""Where compiled code is kept: a folder that can be written to, one for each digest of sources."""

from __future__ import annotations

import hashlib
import os
import re
from pathlib import Path

_VARIABLE = "NUMBA_CACHE_DIR"
_PACKAGE = Path(__file__).parents[1]
_KERNELS = ("kernels", "learning", "simulation", "worlds")
_IMPORT = re.compile(rb"^(?:from|import) ldprl\.([\w.]+)", re.MULTILINE)


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


def sources_digest(package: Path = _PACKAGE) -> str:
    """Return a digest of the modules with kernels and of all that they import, at any distance.

    Numba's cache notices a change of the file that an entry is in, but neither of what the entry
    calls nor of the constants that it reads. So the cache has one folder for each digest.
    """
    waiting = [path for folder in _KERNELS for path in (package / folder).glob("*.py")]
    read: dict[Path, bytes] = {}
    while waiting:
        path = waiting.pop()
        if path not in read and path.is_file():
            read[path] = path.read_bytes()
            for name in _IMPORT.findall(read[path]):
                module = package.joinpath(*name.decode().split("."))
                waiting += [module.with_suffix(".py"), module / "__init__.py"]
    return hashlib.sha256(b"".join(read[path] for path in sorted(read))).hexdigest()[:16]
