"""A digest of the sources that compiled code depends on."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path

_PACKAGE = Path(__file__).parents[1]
_KERNELS = ("kernels", "learning", "simulation", "worlds")
_IMPORT = re.compile(rb"^(?:from|import) ldprl\.([\w.]+)", re.MULTILINE)


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
