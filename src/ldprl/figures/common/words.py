"""Numbers and lists as a reader wants them in a sentence."""

from __future__ import annotations

import math
from collections.abc import Sequence

_RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def number(value: float) -> str:
    """Write ``value`` with two or three digits: 0.013, 42.1, 1,340, 2.1·10⁷."""
    if value == 0 or not math.isfinite(value):
        return f"{value:g}".replace("inf", "∞")
    size = math.floor(math.log10(abs(value)))
    if -3 <= size < 0:
        return f"{value:.{1 - size}f}"
    if 0 <= size < 3:
        return f"{value:.{2 - size}f}"
    if 3 <= size < 6:
        return f"{round(value, 2 - size):,.0f}"
    digits, exponent = f"{value:.1e}".split("e")
    return f"{digits}·10{str(int(exponent)).translate(_RAISED)}"


def power(value: int) -> str:
    """Write a power of ten as such, and other counts in digits."""
    size = round(math.log10(value))
    if value == 10**size and size > 3:
        return "10" + str(size).translate(_RAISED)
    return f"{value:,}"


def listing(items: Sequence[str], last: str = "and") -> str:
    """Join items as in "a, b and c"."""
    if len(items) <= 1:
        return "".join(items)
    return f"{', '.join(items[:-1])} {last} {items[-1]}"


def at_epsilons(values: Sequence[float]) -> str:
    """Write "ε = 0.2, 2 and 20"."""
    return "ε = " + listing([f"{value:g}" for value in values])


def percent(share: float) -> str:
    """Write a share as a percentage."""
    return f"{100 * share:.3g}%"
