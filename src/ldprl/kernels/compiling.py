"""How kernels are compiled, cached, and chosen by the type of their first argument."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

import numba
from numba import njit
from numba.extending import overload

_Function = TypeVar("_Function", bound=Callable[..., Any])

_OPTIONS: dict[str, Any] = {
    # Sums may be reordered and fused; infinities keep their meaning, planning relies on them.
    "fastmath": {"contract", "reassoc", "nsz", "arcp"},
    "error_model": "numpy",
    "boundscheck": False,
    "nogil": True,
    # Kernels allocate nothing, so no references need to be counted.
    "_nrt": False,
}
_INNER: dict[str, Any] = {**_OPTIONS, "no_cpython_wrapper": True, "no_cfunc_wrapper": True}
_INLINED: dict[str, Any] = {**_INNER, "forceinline": True}
_CONFIG: Any = numba.config


def _sources_digest() -> str:
    """Return a digest of every file that holds kernels.

    Numba's cache notices a change of the file that an entry is in, but not of what the entry
    calls. So the cache has one folder for each state of these sources.
    """
    root = Path(__file__).parents[1]
    folders = ("kernels", "learning/planners", "simulation")
    paths = [path for folder in folders for path in sorted((root / folder).glob("*.py"))]
    return hashlib.sha256(b"".join(path.read_bytes() for path in paths)).hexdigest()[:16]


_DIGEST = _sources_digest()


def entry(function: _Function) -> _Function:
    """Compile a kernel that Python calls, once for each combination of types, and cache it."""
    before = _CONFIG.CACHE_DIR
    _CONFIG.CACHE_DIR = str(Path(before or Path(__file__).parent / "__pycache__") / _DIGEST)
    try:
        compiled: _Function = njit(cache=True, **_OPTIONS)(function)
    finally:
        # Kernels of other packages keep their own folder.
        _CONFIG.CACHE_DIR = before
    return compiled


def entry_for(compiled: _Function, tuples: tuple[Any, ...]) -> _Function:
    """Return an entry that never takes stale code for named tuples from outside of this package.

    The cache knows when this package's sources change, but not when the file of somebody's own
    planner or noise does: for these an entry is compiled anew in every process.
    """
    if all(_is_ours(one) for one in tuples):
        return compiled
    function: Any = compiled
    return _without_cache(function.py_func)  # type: ignore[return-value]


def _is_ours(value: Any) -> bool:
    if not isinstance(value, tuple):
        return True
    ours = type(value) is tuple or type(value).__module__.startswith("ldprl.")
    return ours and all(_is_ours(part) for part in value)


@cache
def _without_cache(function: Callable[..., Any]) -> Callable[..., Any]:
    compiled: Callable[..., Any] = njit(**_OPTIONS)(function)
    return compiled


def kernel(function: _Function) -> _Function:
    """Compile a function that only kernels call."""
    compiled: _Function = njit(**_INNER)(function)
    return compiled


def spliced(function: _Function) -> _Function:
    """Copy a function's code into its callers before they are compiled.

    Every level of calls between compiled functions is optimized again at the level above it, which
    takes seconds where large named tuples are passed on. For functions with few callers.
    """
    compiled: _Function = njit(inline="always", **_INNER)(function)
    return compiled


def inlined(function: _Function) -> _Function:
    """Compile a function into its callers.

    For small functions of named tuples: passing every array of a tuple costs more than they do.
    """
    compiled: _Function = njit(**_INLINED)(function)
    return compiled


def method(name: str, *, inline: bool = True) -> Callable[..., Any]:
    """Return a function that kernels call as ``f(first, …)`` for ``first.name(…)``.

    ``first`` is a named tuple whose class defines the method. The type is part of the signature
    that compiled code is cached under, and only what a simulation uses is compiled. A new noise or
    planner is therefore a new named tuple, and nothing else changes.
    """

    def call(first: Any, *rest: Any) -> Any:
        return getattr(first, name)(*rest)

    options = _INLINED if inline else _INNER

    @overload(call, strict=False, jit_options=options)  # type: ignore[arg-type, unused-ignore]
    def pick(first: Any, *rest: Any) -> Any:
        return getattr(first.instance_class, name)

    return call
