"""The one error a caller's input can cause, and the checks that raise it."""

from __future__ import annotations

import difflib
import math
import operator
from collections.abc import Callable, Iterable
from decimal import Decimal, InvalidOperation
from numbers import Real
from typing import TypeVar, cast

_Kind = TypeVar("_Kind")
_LONGEST = 300
"""Characters of a value that a refusal shows: what was given may be a large array."""


class InputError(ValueError):
    """Bad input, refused where it comes in: names the field, the value and what was expected."""

    def __init__(self, field: str, value: object, expected: str) -> None:
        self.field = field
        self.value = value
        self.expected = expected
        super().__init__(f"{field} = {_in_one_line(value)}: expected {expected}")

    def __reduce__(self) -> tuple[type[InputError], tuple[str, object, str]]:
        """Let it travel between processes, as it is made of three parts and not of its message."""
        return type(self), (self.field, self.value, self.expected)


def _in_one_line(value: object) -> str:
    try:
        text = " ".join(repr(value).split())
    except ValueError:  # Python writes no whole number of more than 4,300 digits
        text = f"a {type(value).__name__} of very many digits"
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"


def raised(error: BaseException) -> str:
    """Return what other people's code raised, class and message, in one line."""
    return " ".join(f"{type(error).__name__}: {error}".split())


def instance_of(field: str, value: object, kind: Callable[..., _Kind], example: str = "") -> _Kind:
    """Return ``value`` if it is an instance of the class ``kind``, or refuse it.

    A class in place of an instance is the usual mistake; ``example`` says how to make one.
    """
    wanted = cast("type[_Kind]", kind)
    if isinstance(value, wanted):
        return value
    such = f", such as {example}" if example else ""
    shown = value.__name__ if isinstance(value, type) else value
    raise InputError(field, shown, f"a {wanted.__name__}{such}")


def whole_number(field: str, value: object, at_least: int, at_most: int | None = None) -> int:
    """Return ``value`` as an int in a range, or refuse it."""
    if not isinstance(value, bool):
        try:
            number = operator.index(value)  # type: ignore[arg-type]
        except TypeError:
            number = at_least - 1
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
    """Return ``value`` as a finite float, or refuse it: text and truth values are no numbers."""
    if isinstance(value, bool) or not isinstance(value, Real | Decimal):
        raise InputError(field, value, expected)
    try:
        number = float(value)
    except (OverflowError, ValueError):
        raise InputError(field, value, expected) from None
    if not math.isfinite(number):
        raise InputError(field, value, expected)
    return number


def number_in(field: str, text: str, expected: str) -> float:
    """Read a finite float from text, or refuse it."""
    try:
        return real(field, float(text), expected)
    except ValueError:
        raise InputError(field, text, expected) from None


def decimal_text(field: str, value: object) -> str:
    """Return a number as the shortest decimal string that reads back as the same float."""
    try:
        return format(Decimal(repr(float(value))).normalize(), "f")  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError, InvalidOperation):
        raise InputError(field, value, "a decimal number") from None


def one_of(field: str, value: str, known: Iterable[str]) -> str:
    """Return ``value`` if it is one of the ``known`` names, else suggest the nearest."""
    names = list(known)
    if isinstance(value, str) and value in names:
        return value
    near = difflib.get_close_matches(str(value), names, n=1, cutoff=0.4)
    hint = f" (did you mean {near[0]!r}?)" if near else ""
    raise InputError(field, value, "one of " + ", ".join(names) + hint)
