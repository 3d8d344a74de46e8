"""The door between Python and compiled code, which reads arrays without a look at their ends."""

from __future__ import annotations

import numpy as np

from ldprl.errors import InputError
from ldprl.shape import Array, FloatArray, IntArray


def floats(field: str, value: object, shape: tuple[int, ...]) -> FloatArray:
    """Return a copy of ``value`` as doubles without gaps in memory, or refuse it.

    It must be an array of real numbers of this ``shape``, −1 for any length; infinity is a number,
    NaN is not.
    """
    array = _array(field, value, shape, "fiub", "numbers")
    result = np.array(array, dtype=np.float64, order="C")
    if np.isnan(result).any():
        raise InputError(field, "NaN", f"numbers of shape {shape}")
    return result


def whole(field: str, value: object, shape: tuple[int, ...], most: int) -> IntArray:
    """Return a copy of ``value`` as whole numbers from 0 to ``most``, or refuse it."""
    array = _array(field, value, shape, "iu", "whole numbers")
    if array.size and (array.min() < 0 or array.max() > most):
        wrong = array.min() if array.min() < 0 else array.max()
        raise InputError(field, int(wrong), f"whole numbers from 0 to {most}")
    return np.array(array, dtype=np.int64, order="C")


def _array(field: str, value: object, shape: tuple[int, ...], kinds: str, entries: str) -> Array:
    expected = f"an array of {entries} of shape {shape}"
    if not isinstance(value, np.ndarray):
        raise InputError(field, type(value).__name__, expected)
    fits = value.ndim == len(shape) and all(
        wanted in (-1, size) for wanted, size in zip(shape, value.shape, strict=True)
    )
    if not fits or value.dtype.kind not in kinds:
        raise InputError(field, f"{value.dtype}{value.shape}", expected)
    return value
