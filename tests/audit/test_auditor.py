"""The attacker never accuses a mechanism that keeps its word."""

from __future__ import annotations

import math
from typing import Literal

import pytest

from ldprl import InputError, Laplace, Shape
from ldprl.audit import ATTACKS, Audit, audit
from ldprl.audit.auditor import usual_samples
from ldprl.mechanisms.by_name import build_mechanism, for_tables
from ldprl.mechanisms.mechanism import Guarantee
from ldprl.mechanisms.subset_selection import SubsetSelection

PRIVATE = [name for name in for_tables() if name != "none"]
QUESTIONS: list[Literal["separate", "joint"]] = ["separate", "joint"]
SHAPES = [Shape(2, 2, 2), Shape(1, 1, 3), Shape(1, 3, 1), Shape(3, 1, 2, step_dependent=True)]


@pytest.mark.parametrize("name", PRIVATE)
@pytest.mark.parametrize("epsilon", [0.5, 2.0, 20.0])
def test_sound_mechanisms_hold(name: str, epsilon: float) -> None:
    """Each bound exceeds the truth with probability 1e-6 at most; the truth is the profile's."""
    mechanism = build_mechanism(name, Shape(2, 2, 2), epsilon, 0.1)
    result = audit(mechanism, mechanism.guarantee, samples=5000)
    profile = mechanism.privacy_profile()
    # No region of 5000 reports certifies an ε above ln(5000/14) = 5.9; several counters do.
    assert result.verdict in ("holds", "inconclusive" if epsilon > 5.9 else "holds")
    assert result.exact_delta is not None
    assert result.empirical_delta_lower <= result.exact_delta <= mechanism.guarantee.delta
    assert result.empirical_epsilon_lower <= profile.epsilon(mechanism.guarantee.delta)


@pytest.mark.parametrize("name", PRIVATE)
@pytest.mark.parametrize("shape", SHAPES[1:], ids=str)
def test_sound_mechanisms_hold_for_other_shapes(name: str, shape: Shape) -> None:
    """Type-I error 2e-6 each."""
    mechanism = build_mechanism(name, shape, 1.0, 0.01)
    assert audit(mechanism, mechanism.guarantee, samples=2000).verdict == "holds"


@pytest.mark.parametrize("layout", QUESTIONS)
@pytest.mark.parametrize("epsilon", [0.5, 6.0])
def test_questions_hold(layout: Literal["separate", "joint"], epsilon: float) -> None:
    """Type-I error 2e-6 each; the attack on the one answer is nearly as good as possible."""
    mechanism = SubsetSelection(Shape(2, 2, 2), epsilon, layout=layout)
    result = audit(mechanism, mechanism.guarantee, samples=20_000)
    assert result.verdict == "holds"
    assert result.empirical_epsilon_lower > epsilon / 2


@pytest.mark.parametrize("attack", ATTACKS)
def test_each_attack_alone_holds_its_confidence(attack: str) -> None:
    """Four audits of the tightest mechanism by each attack; type-I error 2e-6 each."""
    mechanism = build_mechanism("gaussian", Shape(2, 2, 2), 1.0, 0.1)
    for seed in range(4):
        result = audit(mechanism, mechanism.guarantee, 2000, seed, attack)
        assert result.attack == attack
        assert result.verdict == "holds"


@pytest.mark.parametrize("name", ["laplace", "subset-selection"])
@pytest.mark.parametrize("claimed", [0.1, 1.0, 6.0])
def test_ten_samples_are_inconclusive(name: str, claimed: float) -> None:
    honest = build_mechanism(name, Shape(2, 2, 2), claimed)
    few = audit(honest, honest.guarantee, samples=10)
    assert few.verdict == "inconclusive"
    assert "10 samples would not convict" in few.strength
    assert audit(honest, honest.guarantee, samples=10_000).verdict == "holds"


def test_the_same_seed_is_the_same_audit() -> None:
    mechanism = build_mechanism("laplace", Shape(2, 2, 2), 2.0)
    first, again, other = (audit(mechanism, mechanism.guarantee, 1000, seed) for seed in (1, 1, 2))
    assert first == again != other


def test_bad_input_is_refused() -> None:
    mechanism = build_mechanism("laplace", Shape(2, 2, 2), 2.0)
    with pytest.raises(InputError, match="samples"):
        audit(mechanism, mechanism.guarantee, 0)
    with pytest.raises(InputError, match="attack"):
        audit(mechanism, mechanism.guarantee, 10, attack="guess")
    with pytest.raises(InputError, match="finite"):
        audit(mechanism, Guarantee(math.inf, 0.0), 10)


def test_long_reports_are_measured_less_often() -> None:
    small, large = (Laplace(Shape(*sizes), 1.0) for sizes in ((2, 2, 2), (12, 4, 6)))
    assert usual_samples(small) == 100_000
    assert usual_samples(large) == 2e7 // large.layout.length


@pytest.mark.parametrize(
    ("found", "best", "words"),
    [
        (1.8, 1.9, "strong"),
        (0.77, None, "weak, more samples or another attack could certify more"),
        (0.77, 0.8, "weak, only more samples could certify more"),
        (0.77, 1.7, "weak, another attack could certify up to 1.7"),
        (1.2, 1.2, "fair, only more samples could certify more"),
    ],
)
def test_the_strength_of_the_evidence_in_words(
    found: float, best: float | None, words: str
) -> None:
    claimed = Guarantee(1.9, 0.0)
    audited = Audit(claimed, 0.0, found, 0.0, best, "likelihood", "two cells", 100, "holds")
    assert audited.strength == f"certifies {found:.3g} of 1.9: {words}"
