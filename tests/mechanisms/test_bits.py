"""The integer that decides whether a bit is flipped never spends more than ε, and no less noise."""

from __future__ import annotations

from decimal import Decimal, localcontext
from fractions import Fraction

from hypothesis import given, settings
from hypothesis import strategies as st

from ldprl.mechanisms.sampling import flip_threshold

EPSILONS = st.fractions(min_value=Fraction(1, 10**6), max_value=40, max_denominator=10**9)


def exceeds(threshold: int, epsilon: Fraction) -> bool:
    """Whether (2⁶⁴ − T)/T > e^ε, to 100 digits."""
    with localcontext() as context:
        context.prec = 100
        ratio = Decimal(epsilon.numerator) / Decimal(epsilon.denominator)
        return Decimal(2**64 - threshold) > Decimal(threshold) * ratio.exp()


@settings(max_examples=500, deadline=None)
@given(EPSILONS)
def test_never_more_than_epsilon_and_the_least_such_threshold(epsilon: Fraction) -> None:
    threshold = flip_threshold(epsilon)
    assert not exceeds(threshold, epsilon)
    assert exceeds(threshold - 1, epsilon)


@settings(max_examples=100, deadline=None)
@given(st.fractions(min_value=Fraction(1, 10**6), max_value=5, max_denominator=10**9))
def test_tight_in_epsilon(epsilon: Fraction) -> None:
    """One unit of T moves ε by 2⁶⁴/(T(2⁶⁴ − T)): below 1e-15 for any ε up to 5."""
    threshold = flip_threshold(epsilon)
    with localcontext() as context:
        context.prec = 60
        spent = (Decimal(2**64 - threshold) / Decimal(threshold)).ln()
        asked = Decimal(epsilon.numerator) / Decimal(epsilon.denominator)
        assert 0 <= asked - spent < Decimal("1e-15")


def test_rounding_to_nearest_would_spend_too_much() -> None:
    """The mutant that rounds instead of taking the ceiling exceeds e^ε about every other time."""
    epsilons = [Fraction(i, 100) for i in range(1, 201)]
    assert 50 < sum(exceeds(nearest_threshold(epsilon), epsilon) for epsilon in epsilons) < 150


def nearest_threshold(epsilon: Fraction) -> int:
    with localcontext() as context:
        context.prec = 60
        ratio = Decimal(epsilon.numerator) / Decimal(epsilon.denominator)
        return int((Decimal(2**64) / (ratio.exp() + 1)).to_integral_value())
