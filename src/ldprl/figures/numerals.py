"""Numbers and lists as readers want them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from ldprl.figures.curves import Curve

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
    return power_of_ten(value) if value == 10**size and size > 3 else f"{value:,}"


def power_of_ten(value: float) -> str:
    """Write 10⁸ for 1e8, and 1 and 10 as they are; other numbers are rounded to a power of ten."""
    if value <= 0:
        return "0"
    exponent = round(math.log10(value))
    return f"{10**exponent}" if exponent in (0, 1) else f"10{str(exponent).translate(_RAISED)}"


def listing(items: Sequence[str]) -> str:
    """Join items as in "a, b and c"."""
    if len(items) <= 1:
        return "".join(items)
    return f"{', '.join(items[:-1])} and {items[-1]}"


def numbers(values: Iterable[float]) -> str:
    """Write "1.23, 42.1 and 1,340"."""
    return listing([number(float(value)) for value in values])


def at_epsilons(values: Sequence[float]) -> str:
    """Write "ε = 0.2, 2 and 20"."""
    return "ε = " + listing([f"{value:g}" for value in values])


def percent(share: float) -> str:
    """Write a share as a percentage."""
    return f"{100 * share:.3g}%"


def mean_and_range(curve: Curve) -> list[str]:
    """Return mean, least and most of the runs' regret after the last episode."""
    return [number(float(value)) for value in (curve.final, curve.last.min(), curve.last.max())]
