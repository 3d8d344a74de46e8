"""Named tuples in memory, as compiled code reads them, so that one address stands for all of it.

A planner has dozens of arrays. Passed one by one, each would be seven arguments of every call, and
code that calls different planners would be compiled for each of them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numba import _dispatcher, typeof, types
from numba.core.registry import cpu_target
from numba.extending import intrinsic

from ldprl.shape import Array

_typeof: Any = typeof
_types: Any = types
_target: Any = cpu_target
_structure: Callable[[Any], bytes] = _dispatcher.compute_fingerprint
"""All that numba derives a value's type from, in half a microsecond; the type takes hundreds."""


def by_structure(function: Callable[[Any], int]) -> Callable[[Any], int]:
    """Call a function of a value's type once for all values of the same type."""
    known: dict[bytes, int] = {}

    def call(value: Any) -> int:
        structure = _structure(value)
        if structure not in known:
            known[structure] = function(value)
        return known[structure]

    return call


def pack(value: tuple[Any, ...]) -> Array:
    """Return the bytes of a named tuple; its arrays stay where they are and must outlive them."""
    packed = np.frombuffer(_bytes_of(value), dtype=np.uint8)
    size = _size_of(value)
    if packed.size != size:
        raise TypeError(f"{type(value).__name__} takes {size} bytes and not {packed.size}")
    return packed


@by_structure
def _size_of(value: Any) -> int:
    context = _target.target_context
    size: int = context.get_abi_sizeof(context.get_data_type(_typeof(value)))
    return size


def _bytes_of(value: Any) -> bytes:
    """Return a value as it stands in memory: a structure where it is an array or a tuple."""
    if isinstance(value, np.ndarray):
        # No owner and no parent: compiled code neither counts references nor returns arrays.
        words = (0, 0, value.size, value.itemsize, value.ctypes.data, *value.shape, *value.strides)
        return np.array(words, dtype=np.int64).tobytes()
    if not isinstance(value, tuple):
        return np.asarray(value).tobytes()
    result = b""
    for part in value:
        # A truth value is one byte; all else begins at a multiple of 8.
        gap = 0 if isinstance(part, bool) else -len(result) % 8
        result += bytes(gap) + _bytes_of(part)
    return result + bytes(-len(result) % 8)


def packed_type(value: tuple[Any, ...]) -> Any:
    """Return the type under which compiled code takes the address of a packed value."""
    return _types.CPointer(_typeof(value))


def _value_at(typing: Any, address: Any) -> Any:
    """Read a packed value."""
    kind = address.dtype

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return context.data_model_manager[kind].load_from_data_pointer(builder, arguments[0])

    return kind(address), generate


value_at: Callable[..., Any] = intrinsic(_value_at)
