"""The shuffle randomizer: exact local privacy loss of a trajectory."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ldprl import (
    Shape,
    Shuffle,
)
from ldprl.mechanisms.mechanism import Mechanism
from tests.mechanisms.users import (
    EPSILONS,
    EXAMPLES,
    SHAPES,
    at_most_epsilon,
    bits_ratio,
    built,
    check_bits,
    worst_pair,
)


@EXAMPLES
@given(st.data(), SHAPES, EPSILONS, st.booleans(), st.sampled_from([1, 3]))
def test_shuffle(
    data: st.DataObject, shape: Shape, epsilon: float, squares: bool, reward_bits: int
) -> None:
    mechanism = Shuffle(shape, epsilon, squares=squares, reward_bits=reward_bits)
    check_bits(data, mechanism, epsilon)


@pytest.mark.filterwarnings("ignore::ldprl.PrivacyWarning")
def test_the_papers_shuffle_randomizer_is_caught() -> None:
    """The mutant: ε₀ = ε/H, as "roughly Hε₀" suggests, exceeds e^ε."""
    mechanism = Shuffle(Shape(2, 2, 2), 1.0, constants="paper")
    assert not at_most_epsilon(bits_ratio(mechanism, *worst_pair(mechanism.layout)), 1.0)


SHAPE = Shape(2, 2, 2)


@pytest.mark.parametrize("reward_bits", [1, 3])
def test_shuffle_always_warns(reward_bits: int) -> None:
    """At ε₀ = ε/H the report spends (4H − 2 + 2mH)·ε/H; its δ at ε itself is that of all bits."""

    def build() -> Mechanism:
        return Shuffle(SHAPE, 1.0, reward_bits=reward_bits, constants="paper")

    exact, warned = built(build)
    bits = 6 + 4 * reward_bits
    odds = math.exp(1 / 2)
    flips = [math.comb(bits, i) * odds**i / (1 + odds) ** bits for i in range(bits + 1)]
    losses = [(2 * i - bits) / 2 for i in range(bits + 1)]
    by_hand = sum(
        p * (1 - math.exp(1 - loss)) for p, loss in zip(flips, losses, strict=True) if loss > 1
    )
    assert exact == pytest.approx(by_hand, rel=1e-9)
    assert warned
