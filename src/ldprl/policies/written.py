"""How a policy is written: numbers as decimal text, vectors as base64, names as printable text.

A document has no floats, so that every language writes it in the same bytes.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ldprl.errors import InputError, decimal_text, number_in, one_of, real

Float32Array = NDArray[np.float32]
MOST_PARAMETERS = 100_000
"""d, the length of a vector of parameters: a device reads one from a document."""
LARGEST_PARAMETER = 2.0**100
"""No parameter is larger: all are float32 numbers."""
_LARGEST_NUMBER = 1e100
_LONGEST = 100
"""Characters of a name, a unit or a number."""


def decimal(field: str, value: object, *, positive: bool = False) -> str:
    """Return a number, or text that is one, as the shortest decimal text of the same float."""
    expected = "a number of ordinary size" + (" > 0" if positive else "")
    if isinstance(value, str):
        number = number_in(field, value[: 2 * _LONGEST], expected)
    else:
        number = real(field, value, expected)  # type: ignore[arg-type]
    small = 0 < abs(number) < 1 / _LARGEST_NUMBER
    if small or abs(number) > _LARGEST_NUMBER or (positive and number <= 0):
        raise InputError(field, value, expected)
    return decimal_text(field, number + 0.0)  # −0 is 0


def printable(field: str, value: object, *, empty: bool = False) -> str:
    """Return a name or a unit, or refuse it."""
    if not isinstance(value, str) or len(value) > _LONGEST or not value.isprintable():
        raise InputError(field, value, f"at most {_LONGEST} printable characters")
    if not value and not empty:
        raise InputError(field, value, "a name")
    return value


def names(field: str, value: object) -> tuple[str, ...]:
    """Return one or more names, no two alike, or refuse them."""
    if isinstance(value, str) or not isinstance(value, Sequence) or not value:
        raise InputError(field, value, "a list of names")
    found = tuple(printable(f"{field}[{i}]", name) for i, name in enumerate(value))
    if len(set(found)) < len(found):
        raise InputError(field, found, "different names")
    return found


def table(field: str, value: object, keys: Iterable[str]) -> Mapping[str, Any]:
    """Return a table that has no other than these ``keys``, or refuse it."""
    if not isinstance(value, Mapping):
        raise InputError(field, value, "a table")
    for key in value:
        one_of(f"{field} key", key, keys)
    return value


def vector(field: str, value: object, size: int) -> Float32Array:
    """Return ``size`` finite numbers, rounded to float32, or refuse them."""
    expected = f"{size} numbers of at most 2^100"
    try:
        given = np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        raise InputError(field, type(value).__name__, expected) from None
    if given.shape != (size,):
        raise InputError(field, f"shape {given.shape}", expected)
    # NaN is not smaller than anything.
    if not np.all(np.abs(given) <= LARGEST_PARAMETER):
        raise InputError(field, "NaN, infinity or more", expected)
    result = given.astype(np.float32)
    result.flags.writeable = False
    return result


def to_base64(numbers: Float32Array) -> str:
    """Write numbers as base64 of little-endian float32."""
    return base64.b64encode(numbers.astype("<f4").tobytes()).decode()


def from_base64(field: str, text: object, size: int) -> Float32Array:
    """Read what :func:`to_base64` wrote, or refuse it; the length comes first."""
    expected = f"base64 of {size} little-endian float32 numbers"
    characters = -(-(4 * size) // 3) * 4
    if not isinstance(text, str) or len(text) != characters:
        raise InputError(field, text, expected)
    try:
        content = base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        raise InputError(field, text, expected) from None
    # Padding may hide bits that are not read.
    if len(content) != 4 * size or base64.b64encode(content).decode() != text:
        raise InputError(field, text, expected)
    return vector(field, np.frombuffer(content, dtype="<f4"), size)
