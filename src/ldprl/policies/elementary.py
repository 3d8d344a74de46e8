"""Activations of +, −, ×, ÷ and comparisons alone: the same bits in every language.

Each takes an array or a single number, in Python as in compiled code, and is defined for ±∞; NaN
stays NaN.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np


def tanh(x: Any) -> Any:
    """Return tanh x, within 1e-15: a fraction at x/8, then thrice tanh 2y = 2t/(1 + t²).

    The fraction is Padé's of degrees 7 and 6; beyond ±20 the result is ±1.
    """
    y = np.maximum(np.minimum(x, 20.0), -20.0) / 8.0
    s = y * y
    top = ((s + 378.0) * s + 17325.0) * s + 135135.0
    bottom = ((28.0 * s + 3150.0) * s + 62370.0) * s + 135135.0
    t = y * top / bottom
    t = (t + t) / (1.0 + t * t)
    t = (t + t) / (1.0 + t * t)
    return (t + t) / (1.0 + t * t)


def softsign(x: Any) -> Any:
    """Return x/(1 + |x|)."""
    y = np.maximum(np.minimum(x, 1e300), -1e300)
    return y / (1.0 + np.abs(y))


def relu(x: Any) -> Any:
    """Return the larger of x and 0."""
    return np.maximum(x, 0.0)


ACTIVATIONS: Mapping[str, Callable[[Any], Any]] = {
    "tanh": tanh,
    "relu": relu,
    "softsign": softsign,
}
"""By name; compiled code goes by the place in this list."""
