"""Numbers in words stay bounds, and what has few digits is written as it is."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from ldprl.rounding import at_least, at_most


@pytest.mark.parametrize("digits", [1, 3, 6])
def test_a_bound_stays_one(digits: int) -> None:
    """And both lie next to each other: at most one unit of the last digit apart."""
    rng = np.random.default_rng(0)
    for value in (rng.choice([-1, 1], 500) * 10 ** rng.uniform(-12, 12, 500)).tolist():
        low, high = at_least(value, digits), at_most(value, digits)
        assert Fraction(low) <= Fraction(repr(value)) <= Fraction(high)
        assert Fraction(high) - Fraction(low) <= 10 ** (1 - digits) * Fraction(abs(value))


@pytest.mark.parametrize(
    ("value", "up", "down"),
    [(0.1, "0.1", "0.1"), (2.0, "2", "2"), (1 / 3, "0.334", "0.333"), (-1 / 3, "-0.333", "-0.334"),
     (1e-8, "1e-08", "1e-08"), (9.999, "10", "9.99"), (0.0, "0", "0"), (math.inf, "∞", "∞")],
)  # fmt: skip
def test_numbers_in_words(value: float, up: str, down: str) -> None:
    assert (at_most(value), at_least(value)) == (up, down)
    assert at_most(np.float64(value)) == up
