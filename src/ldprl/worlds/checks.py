"""Checks of the arrays of an MDP."""

from __future__ import annotations

import reprlib

import numpy as np
from numpy.typing import ArrayLike

from ldprl.errors import InputError
from ldprl.shape import FloatArray, Shape

_SUM_TOLERANCE = 1e-8
"""How far a sum of probabilities may be from 1: rounding a large row to doubles costs less."""

_MOST_ENTRIES = 2**30
"""Of the transitions: 8 GiB."""


def numbers(field: str, value: ArrayLike) -> FloatArray:
    """Return a copy of ``value`` as finite floats, or refuse it."""
    expected = "a rectangular array of numbers"
    try:
        given = np.asarray(value)
    except (TypeError, ValueError):
        raise InputError(field, reprlib.repr(value), expected) from None
    # numpy would parse text, drop imaginary parts and turn None into NaN silently.
    if given.dtype.kind not in "biuf":
        raise InputError(field, reprlib.repr(value), expected)
    array = given.astype(np.float64)
    if array.size == 0:
        raise InputError(f"{field}.shape", array.shape, "at least one state and one action")
    if not np.isfinite(array).all():
        place = _first(~np.isfinite(array))
        raise InputError(_at(field, place), float(array[place]), "a finite number")
    return array


def sized(shape: Shape) -> Shape:
    """Return ``shape``, or refuse it before so many transition probabilities are built."""
    steps = shape.horizon if shape.step_dependent else 1
    entries = steps * shape.states**2 * shape.actions
    if entries > _MOST_ENTRIES:
        raise InputError("transitions", f"{entries:,} numbers", f"at most {_MOST_ENTRIES:,}")
    return shape


def check_range(field: str, array: FloatArray) -> None:
    """Refuse an ``array`` with entries outside [0, 1]."""
    outside = (array < 0) | (array > 1)
    if outside.any():
        place = _first(outside)
        raise InputError(_at(field, place), float(array[place]), "a number in [0, 1]")


def check_distributions(field: str, array: FloatArray) -> None:
    """Refuse an ``array`` whose last axis does not hold probabilities that sum to 1."""
    check_range(field, array)
    totals = np.asarray(array.sum(axis=-1))
    wrong = np.abs(totals - 1) > _SUM_TOLERANCE
    if wrong.any():
        place = _first(wrong)
        total = float(totals[place])
        raise InputError(f"sum of {_at(field, place)}", total, "probabilities that sum to 1")


def _first(mask: np.ndarray[tuple[int, ...], np.dtype[np.bool_]]) -> tuple[int, ...]:
    return tuple(int(index) for index in np.argwhere(mask)[0])


def _at(field: str, place: tuple[int, ...]) -> str:
    return f"{field}{list(place)}" if place else field
