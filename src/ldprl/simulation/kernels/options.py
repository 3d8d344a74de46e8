"""How kernels are compiled. The decorators keep a function's types, as far as mypy can see."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from numba import njit

_Function = TypeVar("_Function", bound=Callable[..., Any])

_OPTIONS: dict[str, Any] = {
    # Sums may be reordered and fused; infinities keep their meaning, planning relies on them.
    "fastmath": {"contract", "reassoc", "nsz", "arcp"},
    "error_model": "numpy",
    "boundscheck": False,
    "nogil": True,
    # Kernels own no memory, so nothing needs its references counted.
    "_nrt": False,
}
_INNER: dict[str, Any] = {**_OPTIONS, "no_cpython_wrapper": True, "no_cfunc_wrapper": True}
INLINED: dict[str, Any] = {**_INNER, "forceinline": True}


def entry(function: _Function) -> _Function:
    """Compile a kernel that Python calls, once for each combination of types, and cache it."""
    compiled: _Function = njit(cache=True, **_OPTIONS)(function)
    return compiled


def kernel(function: _Function) -> _Function:
    """Compile a function that only kernels call."""
    compiled: _Function = njit(**_INNER)(function)
    return compiled


def inlined(function: _Function) -> _Function:
    """Compile a function into its callers.

    For functions of named tuples: handing over the fields of every array costs more than they do.
    """
    compiled: _Function = njit(**INLINED)(function)
    return compiled
