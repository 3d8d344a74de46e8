"""The one error a caller's input can cause, and the checks that raise it."""

from __future__ import annotations

import difflib
import math
from collections.abc import Iterable
from decimal import Decimal, InvalidOperation


class InputError(ValueError):
    """Bad input, refused at the door: names the field, the value and what was expected."""

    def __init__(self, field: str, value: object, expected: str) -> None:
        self.field = field
        self.value = value
        self.expected = expected
        super().__init__(f"{field} = {value!r}: expected {expected}")


def whole_number(field: str, value: object, at_least: int, at_most: int | None = None) -> int:
    """Return ``value`` as an int in a range, or refuse it."""
    if not isinstance(value, bool) and hasattr(value, "__index__"):
        number = int(value)
        if number >= at_least and (at_most is None or number <= at_most):
            return number
    limits = f"≥ {at_least}" if at_most is None else f"from {at_least} to {at_most}"
    raise InputError(field, value, f"a whole number {limits}")


def probability(field: str, value: float, *, zero: bool, one: bool = False) -> float:
    """Return ``value`` as a float in the unit interval, or refuse it."""
    expected = f"a number in {'[' if zero else '('}0, 1{']' if one else ')'}"
    number = real(field, value, expected)
    if number < 0 or number > 1 or (number == 0 and not zero) or (number == 1 and not one):
        raise InputError(field, value, expected)
    return number


def positive(field: str, value: float) -> float:
    """Return ``value`` as a finite float above zero, or refuse it."""
    return above(field, value, 0)


def above(field: str, value: float, limit: int) -> float:
    """Return ``value`` as a finite float above ``limit``, or refuse it."""
    expected = f"a finite number > {limit}"
    number = real(field, value, expected)
    if number <= limit:
        raise InputError(field, value, expected)
    return number


def real(field: str, value: float, expected: str) -> float:
    """Return ``value`` as a finite float, or refuse it."""
    try:
        number = float(value)
    except (TypeError, ValueError):
        raise InputError(field, value, expected) from None
    if not math.isfinite(number):
        raise InputError(field, value, expected)
    return number


def decimal_text(field: str, value: object) -> str:
    """Return a number as the shortest decimal string that reads back as the same float."""
    try:
        return format(Decimal(repr(float(value))).normalize(), "f")  # type: ignore[arg-type]
    except (TypeError, ValueError, InvalidOperation):
        raise InputError(field, value, "a decimal number") from None


def one_of(field: str, value: str, known: Iterable[str]) -> str:
    """Return ``value`` if it is one of the ``known`` names, else suggest the nearest."""
    names = list(known)
    if value in names:
        return value
    near = difflib.get_close_matches(str(value), names, n=1, cutoff=0.4)
    hint = f" (did you mean {near[0]!r}?)" if near else ""
    raise InputError(field, value, "one of " + ", ".join(names) + hint)
