"""How kernels are compiled, cached, and chosen by the type of their first argument."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

import numba
from llvmlite.binding import Linkage
from numba import njit, types
from numba.core.codegen import CPUCodeLibrary
from numba.core.typing.templates import AbstractTemplate, infer_global
from numba.extending import lower_builtin, overload

from ldprl.kernels.cache import sources_digest

_Function = TypeVar("_Function", bound=Callable[..., Any])

_OPTIONS: dict[str, Any] = {
    # Sums may be reordered and fused; infinities keep their meaning, planning relies on them.
    "fastmath": {"contract", "reassoc", "nsz", "arcp"},
    "error_model": "numpy",
    "nogil": True,
    # Kernels allocate nothing, so no references need to be counted: a loop takes half the time.
    "_nrt": False,
    # Only for C, which calls none.
    "no_cfunc_wrapper": True,
}
# Python does not call it: to take its arguments apart would be a third of its code.
_INNER: dict[str, Any] = {**_OPTIONS, "no_cpython_wrapper": True}
_INLINED: dict[str, Any] = {**_INNER, "forceinline": True}
_EXACT: dict[str, Any] = {**_INLINED, "fastmath": False}
_CONFIG: Any = numba.config

_DIGEST = sources_digest()
_LIBRARY: Any = CPUCodeLibrary


def _call_own_copies() -> None:
    """Have compiled code of this package call the copies that were linked into it.

    A copy is optimized where it is called, and sums may be reordered there; by numba's rules the
    copy that a process happens to load first serves everybody. With the same seed a process that
    compiles would then have other runs than one that finds all in the cache.
    """
    finalize = _LIBRARY._finalize_final_module

    def finalize_apart(library: Any) -> None:
        module = library._final_module
        if any(function.name.startswith(_OURS) for function in module.functions):
            # What callers link has to be taken before: there copies still have to meet by name.
            library._finalized = True
            library._get_module_for_linking()
            library._finalized = False
            for function in module.functions:
                if not function.is_declaration and function.linkage == Linkage.linkonce_odr:
                    function.linkage = "internal"
        finalize(library)

    _LIBRARY._finalize_final_module = finalize_apart


_OURS = "_ZN5ldprl"
"""How numba's names of this package's functions begin."""
_call_own_copies()


def entry(function: _Function) -> _Function:
    """Compile a kernel that Python calls, once for each combination of types, and cache it."""
    return _cached(function, _OPTIONS)


def _cached(function: _Function, options: dict[str, Any]) -> _Function:
    before = _CONFIG.CACHE_DIR
    _CONFIG.CACHE_DIR = str(Path(before or Path(__file__).parent / "__pycache__") / _DIGEST)
    try:
        compiled: _Function = njit(cache=True, **options)(function)
    finally:
        # Kernels of other packages keep their own folder.
        _CONFIG.CACHE_DIR = before
    return compiled


def entry_of(value: Any, name: str) -> Any:
    """Return the method ``name`` of a named tuple as an entry."""
    kind: Any = type(value)
    return _method_of(kind, name)


@cache
def _method_of(kind: Any, name: str) -> Any:
    """Compile a method on its own.

    The cache notices when this package's sources change, but not when somebody's own file does:
    what stands elsewhere is compiled anew in every process.
    """
    function = getattr(kind, name)
    return _cached(function, _OPTIONS) if _is_ours(kind) else njit(**_OPTIONS)(function)


def entry_for(compiled: _Function, tuples: tuple[Any, ...]) -> _Function:
    """Return an entry whose cache is left alone for named tuples from outside of this package.

    Their code may have changed since it was cached, and the cache's index, which names every type
    that it knows, could not be read where their module is missing.
    """
    if all(_are_ours(one) for one in tuples):
        return compiled
    function: Any = compiled
    return _without_cache(function.py_func)  # type: ignore[return-value]


def _is_ours(kind: type) -> bool:
    return kind is tuple or kind.__module__.startswith("ldprl.")


def _are_ours(value: Any) -> bool:
    if not isinstance(value, tuple):
        return True
    return _is_ours(type(value)) and all(_are_ours(part) for part in value)


@cache
def _without_cache(function: Callable[..., Any]) -> Callable[..., Any]:
    compiled: Callable[..., Any] = njit(**_OPTIONS)(function)
    return compiled


def kernel(function: _Function) -> _Function:
    """Compile a function that only kernels call."""
    compiled: _Function = njit(**_INNER)(function)
    return compiled


def in_order(function: _Function) -> _Function:
    """Compile a function into its callers whose sums keep their order, for precision."""
    compiled: _Function = njit(**{**_INLINED, "fastmath": {"contract"}})(function)
    return compiled


def exact(function: _Function) -> _Function:
    """Compile a function into its callers that rounds each operation as Python does."""
    compiled: _Function = njit(**_EXACT)(function)
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

    For small functions of named tuples, as passing every array of a tuple costs more than they do,
    and for those in loops that the compiler turns into vector instructions.
    """
    compiled: _Function = njit(**_INLINED)(function)
    return compiled


def method(name: str) -> Callable[..., Any]:
    """Return a function that kernels call as ``f(first, …)`` for ``first.name(…)``.

    ``first`` is a named tuple whose class defines the method. The type is part of the signature
    that compiled code is cached under, and only what a simulation uses is compiled. A new noise or
    planner is therefore a new named tuple, and nothing else changes.
    """
    return _called_by_name(name, _INLINED)


def exact_method(name: str) -> Callable[..., Any]:
    """Return the same for methods that round each operation as Python does."""
    return _called_by_name(name, _EXACT)


def _called_by_name(name: str, options: dict[str, Any]) -> Callable[..., Any]:
    def call(first: Any, *rest: Any) -> Any:
        return getattr(first, name)(*rest)

    @overload(call, strict=False, jit_options=options)  # type: ignore[arg-type, unused-ignore]
    def pick(first: Any, *rest: Any) -> Any:
        return getattr(first.instance_class, name)

    return call


def large_method(name: str) -> Callable[..., Any]:
    """Return the same for methods that take seconds to compile.

    Each is compiled and cached on its own, as an entry, and only linked into what calls it. A
    function of ours in between would be compiled with all of it once more.
    """

    def call(first: Any, *rest: Any) -> Any:
        return getattr(first, name)(*rest)

    def compiled_for(first: Any) -> Any:
        return types.Dispatcher(_method_of(first.instance_class, name))

    class Compiled(AbstractTemplate):
        key = call

        def generic(self, args: Any, _: Any) -> Any:
            return compiled_for(args[0]).get_call_type(self.context, args, {})

    def lower(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return context.get_function(compiled_for(signature.args[0]), signature)(builder, args)

    kind: Any = types
    infer_global(call, kind.Function(Compiled))  # type: ignore[no-untyped-call]
    lower_builtin(call, kind.VarArg(kind.Any))(lower)  # type: ignore[no-untyped-call]
    return call
