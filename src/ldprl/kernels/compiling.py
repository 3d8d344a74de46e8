"""How kernels are compiled, cached, and chosen by the type of their first argument."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

import numba
from numba import njit, typeof, types
from numba.core import cgutils
from numba.extending import intrinsic, overload

from ldprl.kernels.linking import EntryCompiler, LoopCompiler, PartCompiler
from ldprl.kernels.packing import by_structure, packed_type
from ldprl.kernels.sources import sources_digest

_Function = TypeVar("_Function", bound=Callable[..., Any])

_OPTIONS: dict[str, Any] = {
    # Sums may be reordered and fused; infinities keep their meaning, planning relies on them.
    "fastmath": {"contract", "reassoc", "nsz", "arcp"},
    "error_model": "numpy",
    "boundscheck": False,
    "nogil": True,
    # Kernels allocate nothing, so no references need to be counted.
    "_nrt": False,
    # Only for C, which calls none.
    "no_cfunc_wrapper": True,
    "pipeline_class": EntryCompiler,
}
_UNWRAPPED: dict[str, Any] = {**_OPTIONS, "no_cpython_wrapper": True}
_INNER: dict[str, Any] = {
    **_UNWRAPPED,
    "pipeline_class": PartCompiler,
    # Otherwise numba takes it over from the caller.
    "forceinline": False,
}
_INLINED: dict[str, Any] = {**_INNER, "forceinline": True}
_CONFIG: Any = numba.config
_types: Any = types
_typeof: Any = typeof
_cgutils: Any = cgutils


_DIGEST = sources_digest()


def entry(function: _Function) -> _Function:
    """Compile a kernel that Python calls, once for each combination of types, and cache it."""
    return _cached(function, _OPTIONS)


def hot_entry(function: _Function) -> _Function:
    """Compile an entry that takes longer to compile and less time to run."""
    return _cached(function, {**_OPTIONS, "pipeline_class": LoopCompiler})


def distant_entry(function: _Function) -> _Function:
    """Compile a kernel that only kernels call, by its address (:func:`address_of`), and cache it.

    Python cannot call it: to take its arguments apart would be a third of its code.
    """
    return _cached(function, _UNWRAPPED)


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
    """Return the method ``name`` of a named tuple as an entry.

    The cache notices when this package's sources change, but not when somebody's own file does:
    what stands elsewhere is compiled anew in every process.
    """
    kind: Any = type(value)
    return _entry_of(kind, name)


@cache
def _entry_of(kind: Any, name: str) -> Any:
    function = getattr(kind, name)
    return entry(function) if _is_ours(kind) else njit(**_OPTIONS)(function)


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


def _call_at(typing: Any, address: Any, result: Any, arguments: Any) -> Any:
    """Call an entry by its address; ``result`` is a value of the type that it returns.

    The caller is then compiled without the code of what it calls, which would be optimized once
    more with every caller.
    """
    kinds, returned = arguments.types, _types.unliteral(result)

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        convention = context.call_conv
        kind = convention.get_function_type(returned, kinds)
        pointer = builder.inttoptr(values[0], kind.as_pointer())
        given = _cgutils.unpack_tuple(builder, values[2], len(kinds))
        return convention.call_function(builder, pointer, returned, kinds, given)[1]

    return returned(address, result, arguments), generate


call_at: Callable[..., Any] = intrinsic(_call_at)


def address_of(compiled: Any, packed: tuple[Any, ...], others: tuple[Any, ...]) -> int:
    """Compile an entry whose first argument is the address of ``packed``; return where it is."""
    given = (packed, *others)
    return _addresses(entry_for(compiled, given))(given)


@cache
def _addresses(compiled: Any) -> Callable[[Any], int]:
    """Return a function that compiles an entry for its arguments and returns its address."""

    @by_structure
    def address(given: Any) -> int:
        kinds = (packed_type(given[0]), *(_typeof(one) for one in given[1:]))
        compiled.compile(kinds)
        found = compiled.overloads[kinds]
        place: int = found.library.get_pointer_to_function(found.fndesc.llvm_func_name)
        return place

    return address


def method(name: str) -> Callable[..., Any]:
    """Return a function that kernels call as ``f(first, …)`` for ``first.name(…)``.

    ``first`` is a named tuple whose class defines the method. The type is part of the signature
    that compiled code is cached under, and only what a simulation uses is compiled. A new noise or
    planner is therefore a new named tuple, and nothing else changes.
    """

    def call(first: Any, *rest: Any) -> Any:
        return getattr(first, name)(*rest)

    @overload(call, strict=False, jit_options=_INLINED)  # type: ignore[arg-type, unused-ignore]
    def pick(first: Any, *rest: Any) -> Any:
        return getattr(first.instance_class, name)

    return call
