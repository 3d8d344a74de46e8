"""The standard normal law, precise far out."""

from __future__ import annotations

import math


def upper_tail(z: float) -> float:
    """Return Φ(−z), the probability that a standard normal exceeds z."""
    return math.erfc(z / math.sqrt(2)) / 2
