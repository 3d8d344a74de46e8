"""Numbers in words that stay true: an upper bound is rounded up, a lower bound down."""

from __future__ import annotations

import decimal
import math


def at_most(value: float, digits: int = 3) -> str:
    """Write an upper bound with so many significant digits, as ``format(value, "g")`` does."""
    return _written(value, digits, decimal.ROUND_CEILING)


def at_least(value: float, digits: int = 3) -> str:
    """Write a lower bound in the same way."""
    return _written(value, digits, decimal.ROUND_FLOOR)


def _written(value: float, digits: int, direction: str) -> str:
    number = float(value)
    if math.isfinite(number):
        # By its decimal digits: 0.1 stays 0.1, though the float is a little more.
        context = decimal.Context(prec=digits, rounding=direction)
        number = float(context.create_decimal(repr(number)))
    return f"{number:.{digits}g}".replace("inf", "∞")
