"""δ(ε) of every mechanism as built: against closed forms, enumeration and its own guarantee."""

from __future__ import annotations

import math
import warnings

import numpy as np
import pytest

from ldprl import CountingMechanism, Gaussian, InputError, Laplace, Mechanism, Shape, Shuffle
from ldprl.accounting.loss import LossPair, bits_delta, gaussian_delta
from ldprl.accounting.noise_pairs import discrete_laplace_pair, gaussian_pair, laplace_pair
from ldprl.accounting.profile import PrivacyProfile
from ldprl.figures.privacy_plots import plot_profiles
from ldprl.mechanisms.bits import BitMechanism
from ldprl.mechanisms.by_name import build_mechanism, for_tables
from ldprl.mechanisms.mechanism import Constants, PrivacyWarning
from ldprl.mechanisms.sensitivity import l2_sensitivity_squared, worst_shifts

PRIVATE = [name for name in for_tables() if name != "none"]
PAPER = ["laplace", "gaussian", "randomized-response", "bounded-noise", "shuffle"]
BUILT = [(name, "sound") for name in PRIVATE] + [(name, "paper") for name in PAPER]
SHAPES = [Shape(2, 2, 2), Shape(3, 2, 4), Shape(1, 1, 2), Shape(2, 2, 3, step_dependent=True)]
ROUNDING = 1e-12


def built(name: str, shape: Shape, epsilon: float, constants: Constants = "sound") -> Mechanism:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PrivacyWarning)
        return build_mechanism(name, shape, epsilon, 0.1, constants=constants)


@pytest.mark.parametrize(("name", "constants"), BUILT)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_the_profile_goes_through_the_guarantee(
    name: str, shape: Shape, constants: Constants
) -> None:
    """The guarantee is not too good, nor needlessly weak: δ within 1% or 0 at its own ε."""
    mechanism = built(name, shape, 2.0, constants)
    given, profile = mechanism.guarantee, mechanism.privacy_profile()
    delta = profile.delta(given.epsilon)
    assert delta <= given.delta + profile.gap(given.epsilon) + ROUNDING
    assert delta == pytest.approx(given.delta, rel=0.01, abs=ROUNDING)


@pytest.mark.parametrize("name", PRIVATE)
def test_delta_falls_from_total_variation_and_epsilon_inverts_it(name: str) -> None:
    profile = built(name, Shape(2, 2, 2), 2.0).privacy_profile()
    epsilons = np.linspace(0, 2.5, 26)
    deltas = np.array([profile.delta(float(epsilon)) for epsilon in epsilons])
    gaps = np.array([profile.gap(float(epsilon)) for epsilon in epsilons])
    assert np.all(np.diff(deltas) <= ROUNDING)
    # A hockey stick is convex in e^ε.
    slopes = np.diff(deltas) / np.diff(np.exp(epsilons))
    assert np.all(np.diff(slopes) >= -1e-6)
    assert np.all(gaps <= 2e-3 * deltas + ROUNDING)
    for delta in (0.15, 0.05, 0.01):
        epsilon = profile.epsilon(delta)
        assert profile.delta(epsilon) <= delta
        assert profile.delta(0.999 * epsilon) > delta


@pytest.mark.parametrize("name", ["laplace", "randomized-response", "shuffle"])
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_pure_mechanisms_are_pure_at_their_epsilon_and_not_below(name: str, shape: Shape) -> None:
    profile = built(name, shape, 1.3).privacy_profile()
    assert (profile.delta(1.3), profile.gap(1.3)) == (0.0, 0.0)
    assert profile.pure == pytest.approx(1.3, rel=1e-9)
    assert profile.delta(1.29) > 0
    assert profile.epsilon(0.0) == pytest.approx(1.3, rel=1e-8)


@pytest.mark.parametrize("kind", [build_mechanism("randomized-response", SHAPES[0], 3.0)])
@pytest.mark.parametrize("epsilon", [0.0, 0.7, 1.9, 2.9])
def test_bits_have_their_closed_form(kind: BitMechanism, epsilon: float) -> None:
    profile, bits = kind.privacy_profile(), 6 * 2 - 2
    assert profile.delta(epsilon) == pytest.approx(
        bits_delta(kind.bit_epsilon, bits, epsilon), abs=ROUNDING
    )
    assert profile.gap(epsilon) <= ROUNDING


@pytest.mark.parametrize("epsilon", [0.2, 2.0, 20.0])
def test_the_papers_gaussian_has_its_closed_form(epsilon: float) -> None:
    mechanism = built("gaussian", Shape(2, 2, 2), epsilon, "paper")
    assert isinstance(mechanism, Gaussian)
    ratio = math.sqrt(l2_sensitivity_squared(mechanism.layout)) / mechanism.sigma
    profile = mechanism.privacy_profile()
    for point in (0.0, epsilon / 2, epsilon, 2 * epsilon):
        exact = gaussian_delta(ratio, point)
        assert profile.delta(point) - profile.gap(point) - ROUNDING <= exact
        assert exact <= profile.delta(point) + ROUNDING
        assert profile.gap(point) <= 2e-3 * exact + ROUNDING


def test_continuous_laplace_noise_has_its_closed_form() -> None:
    """δ = 1 − e^{(ε − d)/2} for one counter at d scales; two at a time by integration."""
    for distance in (0.3, 2.0):
        profile = PrivacyProfile([laplace_pair(distance, 1)])
        for epsilon in (0.0, 0.2 * distance, 0.9 * distance):
            exact = -math.expm1((epsilon - distance) / 2)
            assert exact <= profile.delta(epsilon) + ROUNDING
            assert profile.delta(epsilon) <= exact + profile.gap(epsilon) + ROUNDING
            assert profile.gap(epsilon) < 1e-3
        assert profile.delta(1.001 * distance) == 0


def test_a_gaussian_pair_has_the_mass_of_two_normal_laws() -> None:
    for ratio in (0.01, 1.0, 30.0):
        pair = gaussian_pair(ratio)
        assert pair.first.sum() == pytest.approx(1, abs=ROUNDING)
        assert pair.second.sum() == pytest.approx(1, abs=ROUNDING)


def test_discrete_laplace_pairs_against_a_long_table() -> None:
    """All x ≤ 0 in one outcome and all x ≥ shift in another lose nothing."""
    scale, shift, reach = 1.7, 3, 120
    law = np.exp(-np.abs(np.arange(-reach, reach + 1)) / scale)
    law /= law.sum()
    pair = discrete_laplace_pair(shift, scale, 1)
    for epsilon in (0.0, 0.3, 1.0, 1.7):
        near, far = law[:-shift], law[shift:]
        table = float(np.maximum(far - math.exp(epsilon) * near, 0).sum())
        merged = float(np.maximum(pair.first - math.exp(epsilon) * pair.second, 0).sum())
        assert merged == pytest.approx(table, abs=ROUNDING)


def test_laplace_against_every_outcome() -> None:
    """S·A = 1 and H = 1: two counters against the empty trajectory, outcome by outcome."""
    mechanism = Laplace(Shape(1, 1, 1), 1.5)
    scale, reach = float(mechanism.scale), 60
    law = np.exp(-np.abs(np.arange(-reach, reach + 2)) / scale)
    law /= law.sum()
    shifted = np.exp(-np.abs(np.arange(-reach, reach + 2) - 1) / scale)
    shifted /= shifted.sum()
    first, second = np.outer(shifted, shifted), np.outer(law, law)
    profile = mechanism.privacy_profile()
    for epsilon in (0.0, 0.4, 1.2):
        exact = float(np.maximum(first - math.exp(epsilon) * second, 0).sum())
        assert profile.delta(epsilon) == pytest.approx(exact, abs=1e-9)


def test_one_report_over_a_finite_domain_is_one_pair() -> None:
    """Subset selection, d = 6, w = 2: a report has one user's item, the other's, both or none."""
    epsilon, d, w = 1.2, 6, 2
    p = w * math.exp(epsilon) / (w * math.exp(epsilon) + d - w)
    both = p * (w - 1) / (d - 1)
    only, other = p - both, (1 - p) * w / (d - 1)
    law = np.array([only, both, 1 - only - both - other, other])
    profile = PrivacyProfile([LossPair(law, law[[3, 1, 2, 0]])])
    assert profile.pure == pytest.approx(epsilon)
    assert profile.delta(epsilon) == 0
    assert profile.delta(0.0) == pytest.approx(only - other, abs=1e-9)


def test_either_user_may_be_the_first() -> None:
    """P and Q of two outcomes whose losses differ in the two orders."""
    first, second = np.array([0.5, 0.5]), np.array([0.2, 0.8])
    profile = PrivacyProfile([LossPair(first, second)])
    for epsilon in (0.0, 0.5, 0.8):
        grown = math.exp(epsilon)
        orders = np.maximum([first - grown * second, second - grown * first], 0).sum(axis=1)
        assert profile.delta(epsilon) == pytest.approx(orders.max(), abs=1e-6)
    assert profile.pure == pytest.approx(math.log(2.5))


def test_users_who_only_look_alike_from_one_side_count_in_both_orders() -> None:
    """δ(½) = 0.2 one way round, and 0.1 the other way."""
    first, second = np.array([0.8, 0.2, 0.0]), np.array([0.9, 0.0, 0.1])
    epsilon = 0.5
    for one, other in ((first, second), (second, first)):
        found = PrivacyProfile([LossPair(one, other)]).delta(epsilon)
        assert found == pytest.approx(0.2, abs=1e-9)


def test_no_privacy_has_delta_one() -> None:
    profile = built("none", Shape(2, 2, 2), 1.0).privacy_profile()
    assert (profile.delta(100.0), profile.gap(100.0)) == (1.0, 0.0)
    assert profile.epsilon(0.5) == math.inf
    assert profile.epsilon(1.0) == 0.0


def test_shuffle_bits_count_every_bit_of_a_reward() -> None:
    mechanism = Shuffle(Shape(2, 2, 2), 1.0, reward_bits=3)
    bits = sum(shift.size * shift.counters for shift in worst_shifts(mechanism.layout))
    assert bits == 4 * 2 - 2 + 2 * 3 * 2
    assert mechanism.privacy_profile().pure == pytest.approx(bits * mechanism.bit_epsilon)


def test_half_of_the_noise_shows() -> None:
    """The profile is of the mechanism as built, not of what it claims."""
    mechanism = Laplace(Shape(2, 2, 2), 2.0)
    mechanism.scale /= 2
    assert mechanism.privacy_profile().pure == pytest.approx(4.0)


def test_a_mechanism_without_loss_pairs_says_so() -> None:
    class Mine(Laplace):
        loss_pairs = CountingMechanism.loss_pairs

    with pytest.raises(InputError, match=r"Mine.*loss_pairs"):
        Mine(Shape(2, 2, 2), 1.0).privacy_profile()


@pytest.mark.parametrize("bad", [-0.1, math.inf, math.nan])
def test_bad_epsilon_is_refused(bad: float) -> None:
    profile = built("laplace", Shape(2, 2, 2), 1.0).privacy_profile()
    for ask in (profile.delta, profile.gap):
        with pytest.raises(InputError, match="epsilon"):
            ask(bad)
    with pytest.raises(InputError, match="delta"):
        profile.epsilon(1.5)


def test_the_picture_has_a_line_for_each_mechanism() -> None:
    profiles = {name: built(name, Shape(2, 2, 2), 2.0).privacy_profile() for name in PRIVATE}
    (axes,) = plot_profiles(profiles, 2.0).axes
    labelled = [line for line in axes.lines if not str(line.get_label()).startswith("_")]
    assert [line.get_label() for line in labelled] == PRIVATE
    for line, profile in zip(labelled, profiles.values(), strict=True):
        x, y = (np.asarray(values) for values in line.get_data())
        assert y[0] == pytest.approx(profile.delta(0.0))
        assert x[-1] == pytest.approx(4.0)
