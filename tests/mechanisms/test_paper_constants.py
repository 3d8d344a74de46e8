"""What the paper's constants give in truth, and a warning exactly where it is less than claimed."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable

import pytest

from ldprl import (
    BoundedNoise,
    Gaussian,
    Laplace,
    PrivacyWarning,
    RandomizedResponse,
    Shape,
    Shuffle,
)
from ldprl.accounting.loss import gaussian_delta
from ldprl.mechanisms.mechanism import Mechanism

SHAPE = Shape(2, 2, 2)


def built(build: Callable[[], Mechanism]) -> tuple[float, bool]:
    """Return the exact δ of a mechanism, and whether its construction warned."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        mechanism = build()
    return mechanism.guarantee.delta, any(w.category is PrivacyWarning for w in caught)


@pytest.mark.parametrize(
    ("epsilon", "delta"), [(0.2, 0.0005), (2.0, 0.011), (5.0, 0.079), (20.0, 0.986)]
)
def test_gaussian_delta_at_the_claimed_epsilon(epsilon: float, delta: float) -> None:
    """σ = cH/ε with c² = 4 ln(24/δ₀) at δ₀ = 0.1 against a distance √(4H² + 2(H−1)²) = √18."""
    sigma = math.sqrt(4 * math.log(240)) * 2 / epsilon
    exact, _ = built(lambda: Gaussian(SHAPE, epsilon, 0.1, constants="paper"))
    assert exact == pytest.approx(gaussian_delta(math.sqrt(18) / sigma, epsilon), rel=1e-12)
    assert exact == pytest.approx(delta, rel=0.05)


def test_bounded_noise_gives_no_privacy_at_twenty() -> None:
    """2R = 1.82 < H: the supports of two users can be disjoint."""
    radius = 3 * 2 / 20 * math.sqrt(4 * math.log(10))
    assert 2 * radius == pytest.approx(1.82, abs=0.005)
    exact, warned = built(lambda: BoundedNoise(SHAPE, 20.0, 0.1, constants="paper"))
    assert exact == 1.0
    assert warned


def test_bounded_noise_at_two() -> None:
    exact, warned = built(lambda: BoundedNoise(SHAPE, 2.0, 0.1, constants="paper"))
    assert 0.27 <= exact < 0.5
    assert warned


@pytest.mark.parametrize("epsilon", [0.05, 0.2, 1.0, 2.0, 5.0, 5.6, 6.0, 20.0])
@pytest.mark.parametrize("kind", [Gaussian, BoundedNoise])
def test_warns_exactly_where_the_claim_fails(
    kind: type[Gaussian] | type[BoundedNoise], epsilon: float
) -> None:
    exact, warned = built(lambda: kind(SHAPE, epsilon, 0.1, constants="paper"))
    assert warned == (exact > 0.1)


def test_both_sides_of_the_claim_are_among_those_tested() -> None:
    for kind in (Gaussian, BoundedNoise):
        outcomes = {
            built(lambda: kind(SHAPE, epsilon, 0.1, constants="paper"))[1]  # noqa: B023
            for epsilon in (0.05, 20.0)
        }
        assert outcomes == {False, True}


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


def test_sound_and_pure_constants_never_warn() -> None:
    for constants in ("sound", "paper"):
        for pure in (Laplace, RandomizedResponse):
            assert built(lambda: pure(SHAPE, 20.0, constants=constants)) == (0.0, False)  # noqa: B023
    for kind in (Gaussian, BoundedNoise):
        assert built(lambda: kind(SHAPE, 20.0, 0.1)) == (0.1, False)  # noqa: B023
    assert built(lambda: Shuffle(SHAPE, 20.0)) == (0.0, False)
