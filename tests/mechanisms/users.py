"""Counters of users, exact comparisons and constructions, for the tests of several mechanisms."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from decimal import Decimal, localcontext
from fractions import Fraction
from functools import lru_cache

import numpy as np
from hypothesis import settings
from hypothesis import strategies as st

from ldprl import (
    PrivacyWarning,
    Shape,
    Trajectory,
)
from ldprl.layout import Layout
from ldprl.mechanisms.bits import BitMechanism
from ldprl.mechanisms.mechanism import Mechanism
from ldprl.mechanisms.noise_table import NoiseTable
from ldprl.mechanisms.sampling import InsecureSource
from ldprl.mechanisms.sensitivity import Block
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
        trajectory = Trajectory.empty()
    else:
        trajectory = Trajectory(
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
    vector = trajectory.counts(layout, InsecureSource(draw(st.integers(0, 99))))
    return np.asarray(vector, dtype=np.int64)


def worst_pair(layout: Layout) -> tuple[IntArray, IntArray]:
    """Return two users who stay in different corners, with reward 1; or one of them and nobody."""
    shape, source = layout.shape, InsecureSource(0)
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


def check_bits(data: st.DataObject, mechanism: BitMechanism, epsilon: float) -> None:
    one, other = data.draw(counters(mechanism.layout)), data.draw(counters(mechanism.layout))
    assert np.all(one <= mechanism.bits)
    assert at_most_epsilon(bits_ratio(mechanism, one, other), epsilon)
    worst = bits_ratio(mechanism, *worst_pair(mechanism.layout))
    assert at_most_epsilon(worst, epsilon)
    if mechanism.constants == "sound":
        assert not at_most_epsilon(worst * Fraction(1001, 1000), epsilon)


def built(build: Callable[[], Mechanism]) -> tuple[float, bool]:
    """Return the exact δ of a mechanism, and whether its construction warned."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        mechanism = build()
    return mechanism.guarantee.delta, any(w.category is PrivacyWarning for w in caught)


def gaussian_tables(layout: Layout, variance: float) -> dict[Block, NoiseTable]:
    def table(unit: int) -> NoiseTable:
        reach = math.ceil(9 * unit * math.sqrt(variance)) + 1
        points = np.arange(-reach, reach + 1, dtype=np.float64)
        return NoiseTable(np.exp(-(points**2) / (2 * variance * unit**2)))

    noise = table(1)
    return {"rewards": table(layout.resolution or 1), "visits": noise, "transitions": noise}
