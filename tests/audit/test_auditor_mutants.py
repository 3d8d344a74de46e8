"""The attacker convicts mechanisms that do not keep their word, by what it measured alone."""

from __future__ import annotations

import pytest

from ldprl import Laplace, Shape
from ldprl.audit import Audit, audit
from ldprl.mechanisms.by_name import build_mechanism
from ldprl.mechanisms.mechanism import Guarantee, PrivacyWarning
from tests.audit.mutants import DELTA, EPSILON, MUTANTS, SHAPE, NaiveLaplace

SAMPLES = {
    # Asked report by report; a few hundred are enough to convict them.
    "TellingLength": 500,
    "ReusedSeed": 500,
    # Closest to what they claim.
    "half_shuffle": 20_000,
    "one_block_gaussian": 20_000,
}


def proves_violation(result: Audit) -> bool:
    return (
        result.empirical_epsilon_lower > result.claimed.epsilon
        or result.empirical_delta_lower > result.claimed.delta
    )


@pytest.mark.parametrize("name", MUTANTS)
def test_mutants_are_convicted(name: str) -> None:
    mechanism = MUTANTS[name]()
    result = audit(mechanism, mechanism.guarantee, SAMPLES.get(name, 6_000))
    assert proves_violation(result)
    assert result.verdict == "violated"


@pytest.mark.parametrize("name", ["gaussian", "bounded-noise"])
def test_the_papers_constants_are_convicted(name: str) -> None:
    """At ε = 20 no single region of 20,000 reports could: counters are composed."""
    with pytest.warns(PrivacyWarning):
        mechanism = build_mechanism(name, Shape(2, 2, 2), 20.0, 0.1, constants="paper")
    result = audit(mechanism, Guarantee(20.0, 0.1), 20_000)
    assert proves_violation(result)
    assert result.exact_delta is not None
    assert result.exact_delta > 0.9


def test_the_papers_shuffle_bits_are_convicted() -> None:
    with pytest.warns(PrivacyWarning):
        mechanism = build_mechanism("shuffle", Shape(2, 2, 2), 2.0, constants="paper")
    assert proves_violation(audit(mechanism, Guarantee(2.0, 0.0), 5000))


@pytest.mark.parametrize("name", ["laplace", "randomized-response"])
def test_the_papers_laplace_and_bits_hold(name: str) -> None:
    """Type-I error 2e-6."""
    mechanism = build_mechanism(name, Shape(2, 2, 2), 2.0, constants="paper")
    assert audit(mechanism, Guarantee(2.0, 0.0), 5000).verdict == "holds"


def test_which_doubles_occur_convicts_naive_noise_and_not_ours() -> None:
    """ε is so small that nothing but the doubles themselves can distinguish two users."""
    small = 0.01
    naive, ours = (kind(SHAPE, small) for kind in (NaiveLaplace, Laplace))
    convicted = audit(naive, naive.guarantee, 5000, attack="floating-point")
    assert convicted.empirical_epsilon_lower > 10 * small
    assert audit(naive, naive.guarantee, 5000).attack == "floating-point"
    assert audit(naive, naive.guarantee, 5000, attack="likelihood").empirical_epsilon_lower == 0
    spared = audit(ours, ours.guarantee, 5000, attack="floating-point")
    assert (spared.empirical_epsilon_lower, spared.verdict) == (0, "holds")


def test_the_profile_alone_convicts_too() -> None:
    """Ten reports prove nothing; the mechanism's own accounting does."""
    result = audit(MUTANTS["half_laplace"](), Guarantee(EPSILON, 0.0), 10)
    assert not proves_violation(result)
    assert result.verdict == "violated"


def test_a_weaker_claim_of_the_same_mechanism_holds() -> None:
    """Twice the ε is what half of the noise gives (type-I error 2e-6)."""
    for name, delta in (("half_laplace", 0.0), ("half_gaussian", 0.3)):
        assert DELTA < 0.3
        result = audit(MUTANTS[name](), Guarantee(2 * EPSILON, delta), 5000)
        assert result.verdict == "holds"
