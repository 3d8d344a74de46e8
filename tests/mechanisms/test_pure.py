"""Pure ε-LDP, computed: no report of any two users is e^ε times likelier under one of them."""

from __future__ import annotations

import math
from decimal import Decimal, localcontext
from fractions import Fraction
from functools import lru_cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ldprl import Laplace, RandomizedResponse, Shape, Shuffle, Trajectory
from ldprl.mechanisms.bits import BitMechanism
from ldprl.mechanisms.layout import Layout
from ldprl.mechanisms.mechanism import Constants
from ldprl.mechanisms.sampling import SeededSourceForTests
from ldprl.shape import IntArray

SHAPES = st.builds(
    Shape,
    states=st.integers(1, 3),
    actions=st.integers(1, 3),
    horizon=st.integers(1, 4),
    step_dependent=st.booleans(),
)
EPSILONS = st.one_of(st.sampled_from([0.2, 2.0, 20.0]), st.floats(1e-3, 30))
EXAMPLES = settings(max_examples=60, deadline=None)


@st.composite
def counters(draw: st.DrawFn, layout: Layout) -> IntArray:
    """Counters of some user after rounding; rewards on the grid stand for any rounded ones."""
    horizon, resolution = layout.shape.horizon, layout.resolution or 1
    if draw(st.integers(0, 9)) == 0:
        lived = Trajectory.empty()
    else:
        lived = Trajectory(
            draw(
                st.lists(
                    st.integers(0, layout.shape.states - 1), min_size=horizon, max_size=horizon
                )
            ),
            draw(
                st.lists(
                    st.integers(0, layout.shape.actions - 1), min_size=horizon, max_size=horizon
                )
            ),
            [draw(st.integers(0, resolution)) / resolution for _ in range(horizon)],
        )
    vector = lived.counts(layout, SeededSourceForTests(draw(st.integers(0, 99))))
    return np.asarray(vector, dtype=np.int64)


def worst_pair(layout: Layout) -> tuple[IntArray, IntArray]:
    """Return two users who stay in different corners, with reward 1; or one of them and nobody."""
    shape, source = layout.shape, SeededSourceForTests(0)
    ones = [1.0] * shape.horizon
    here = Trajectory([0] * shape.horizon, [0] * shape.horizon, ones)
    there = Trajectory(
        [shape.states - 1] * shape.horizon, [shape.actions - 1] * shape.horizon, ones
    )
    if shape.states * shape.actions == 1:
        there = Trajectory.empty()
    return here.counts(layout, source), there.counts(layout, source)


def at_most_epsilon(ratio: Fraction, epsilon: float) -> bool:
    """Whether ratio ≤ e^ε, to 60 digits, for the ε that is written down."""
    with localcontext() as context:
        context.prec = 60
        return Decimal(ratio.numerator) <= Decimal(ratio.denominator) * Decimal(repr(epsilon)).exp()


# Laplace: P(x) ∝ e^{−|x|/(b·unit)}, so the log-ratio of any report is at most Σ|x − x'|/(b·unit).


def laplace_loss(mechanism: Laplace, one: IntArray, other: IntArray) -> Fraction:
    units = mechanism.layout.units()
    gaps = np.abs(one - other)
    return (
        sum(
            (Fraction(gap, unit) for gap, unit in zip(gaps.tolist(), units.tolist(), strict=True)),
            start=Fraction(0),
        )
        / mechanism.scale
    )


@EXAMPLES
@given(st.data(), SHAPES, EPSILONS, st.booleans(), st.sampled_from([1, 4]))
def test_laplace(
    data: st.DataObject, shape: Shape, epsilon: float, squares: bool, resolution: int
) -> None:
    mechanism = Laplace(shape, epsilon, squares=squares, resolution=resolution)
    one, other = data.draw(counters(mechanism.layout)), data.draw(counters(mechanism.layout))
    limit = Fraction(repr(epsilon))
    assert laplace_loss(mechanism, one, other) <= limit
    assert laplace_loss(mechanism, *worst_pair(mechanism.layout)) == limit
    assert mechanism.guarantee.epsilon == epsilon
    assert mechanism.guarantee.delta == 0


@EXAMPLES
@given(st.data(), SHAPES, EPSILONS, st.booleans())
def test_the_papers_laplace_scale_is_enough_too(
    data: st.DataObject, shape: Shape, epsilon: float, squares: bool
) -> None:
    mechanism = Laplace(shape, epsilon, constants="paper", squares=squares)
    layout = Layout(shape, squares)
    one, other = data.draw(counters(layout)), data.draw(counters(layout))
    assert laplace_loss(mechanism, one, other) <= Fraction(repr(epsilon))


# Bits: the report of a counter with n bits, x of them set, is Bin(x, 1 − q) + Bin(n − x, q).


@lru_cache(maxsize=4096)
def worst_ratio(threshold: int, bits: int, one: int, other: int) -> Fraction:
    """Return max_j P(j | one)/P(j | other), in rationals."""
    first, second = (ones_law(threshold, bits, ones) for ones in (one, other))
    return max(Fraction(a, b) for a, b in zip(first, second, strict=True))


@lru_cache(maxsize=4096)
def ones_law(threshold: int, bits: int, ones: int) -> list[int]:
    """Return 2^{64·bits} times the law of the number of ones reported."""
    law = [1]
    for bit in range(bits):
        up = 2**64 - threshold if bit < ones else threshold
        stay = [(2**64 - up) * weight for weight in [*law, 0]]
        law = [a + up * b for a, b in zip(stay, [0, *law], strict=True)]
    return law


def bits_ratio(mechanism: BitMechanism, one: IntArray, other: IntArray) -> Fraction:
    return math.prod(
        (
            worst_ratio(mechanism.threshold, bits, a, b)
            for bits, a, b in zip(
                mechanism.bits.tolist(), one.tolist(), other.tolist(), strict=True
            )
            if a != b
        ),
        start=Fraction(1),
    )


@EXAMPLES
@given(st.data(), SHAPES, EPSILONS, st.booleans(), st.sampled_from(["sound", "paper"]))
def test_randomized_response(
    data: st.DataObject, shape: Shape, epsilon: float, squares: bool, constants: Constants
) -> None:
    mechanism = RandomizedResponse(shape, epsilon, squares=squares, constants=constants)
    check_bits(data, mechanism, epsilon)


@EXAMPLES
@given(st.data(), SHAPES, EPSILONS, st.booleans(), st.sampled_from([1, 3]))
def test_shuffle(
    data: st.DataObject, shape: Shape, epsilon: float, squares: bool, reward_bits: int
) -> None:
    mechanism = Shuffle(shape, epsilon, squares=squares, reward_bits=reward_bits)
    check_bits(data, mechanism, epsilon)


def check_bits(data: st.DataObject, mechanism: BitMechanism, epsilon: float) -> None:
    one, other = data.draw(counters(mechanism.layout)), data.draw(counters(mechanism.layout))
    assert np.all(one <= mechanism.bits)
    assert at_most_epsilon(bits_ratio(mechanism, one, other), epsilon)
    worst = bits_ratio(mechanism, *worst_pair(mechanism.layout))
    assert at_most_epsilon(worst, epsilon)
    if mechanism.constants == "sound":
        assert not at_most_epsilon(worst * Fraction(1001, 1000), epsilon)


@pytest.mark.filterwarnings("ignore::ldprl.PrivacyWarning")
def test_the_papers_shuffle_randomizer_is_caught() -> None:
    """The mutant: ε₀ = ε/H, as "roughly Hε₀" suggests, exceeds e^ε."""
    mechanism = Shuffle(Shape(2, 2, 2), 1.0, constants="paper")
    assert not at_most_epsilon(bits_ratio(mechanism, *worst_pair(mechanism.layout)), 1.0)
