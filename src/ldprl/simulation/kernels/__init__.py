"""Compiled engines for the catalogue's mechanisms and learners; each kernel names its twin.

Numba caches compiled code, but sees only changes of the file that a kernel is in, not of what the
kernel calls. So the cache has a folder for each state of these sources.
"""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import numba

_CONFIG: Any = numba.config
_HERE = Path(__file__).parent
_DIGEST = hashlib.sha256(b"".join(path.read_bytes() for path in sorted(_HERE.glob("*.py"))))
_BEFORE = _CONFIG.CACHE_DIR
_CONFIG.CACHE_DIR = str(Path(_BEFORE or _HERE / "__pycache__") / _DIGEST.hexdigest()[:16])

from ldprl.simulation.kernels.loops import each as each  # noqa: E402
from ldprl.simulation.kernels.loops import growth as growth  # noqa: E402

# Kernels of other packages keep their own place.
_CONFIG.CACHE_DIR = _BEFORE
