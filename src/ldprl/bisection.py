"""Bisection: where a condition that changes once begins to hold."""

from __future__ import annotations

from collections.abc import Callable


def bisect(
    holds: Callable[[float], bool],
    low: float,
    high: float,
    *,
    relative: float = 0.0,
    halvings: int = 200,
) -> tuple[float, float]:
    """Return two numbers between which ``holds`` turns true: take the one on the safe side.

    ``holds`` is taken to be false at ``low`` and true at ``high``, unchecked. The interval is
    halved ``halvings`` times, or until it is no wider than ``relative`` times its upper end.
    """
    for _ in range(halvings):
        if high - low <= relative * high:
            break
        middle = (low + high) / 2
        low, high = (low, middle) if holds(middle) else (middle, high)
    return low, high
