"""The privacy statement: the same truth in numbers and in words."""

from __future__ import annotations

import json
import math
import warnings
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from ldprl import Gaussian, InputError, Laplace, NoPrivacy, PrivacyWarning, Shape
from ldprl.accounting.loss import compose, gaussian_delta
from ldprl.accounting.profile import PrivacyProfile, chance_beyond
from ldprl.accounting.shuffling import central_delta
from ldprl.accounting.words import at_most_sure, chance, odds, paragraph
from ldprl.mechanisms.by_name import MECHANISMS, build_mechanism, for_tables
from ldprl.mechanisms.counting import CountingMechanism
from ldprl.mechanisms.mechanism import Constants, Mechanism
from ldprl.mechanisms.sensitivity import l2_sensitivity_squared
from ldprl.protocol.statement import privacy_statement
from ldprl.rounding import at_most

SHAPE = Shape(2, 2, 2)
BUILT: list[tuple[str, Constants]] = [
    *((name, "sound") for name in for_tables()),
    *((name, "paper") for name, kind in MECHANISMS.items() if issubclass(kind, CountingMechanism)),
]
"""Every mechanism with the constants that it has: not all are in the paper."""


def build(name: str, epsilon: float, constants: Constants = "sound") -> Mechanism:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PrivacyWarning)
        return build_mechanism(name, SHAPE, epsilon, 0.1, constants=constants)


def words_of(mechanism: Mechanism) -> str:
    """Return the text without its line breaks."""
    return " ".join(privacy_statement(mechanism, [2]).to_text().split())


def first_sentence(mechanism: Mechanism) -> str:
    return words_of(mechanism).split(". ")[0]


@pytest.mark.parametrize(("name", "constants"), BUILT)
def test_numbers_are_those_of_the_mechanism_as_built(name: str, constants: Constants) -> None:
    mechanism = build(name, 2.0, constants)
    found = json.loads(json.dumps(privacy_statement(mechanism, [2]).to_dict(), allow_nan=False))
    assert list(found) == [
        "version", "mechanism", "holds", "claimed", "per_report", "report", "returning_user",
        "public", "not_protected", "simulation_only", "crowd", "known",
    ]  # fmt: skip
    given = mechanism.guarantee
    epsilon = given.epsilon if math.isfinite(given.epsilon) else None
    level = found["per_report"]
    assert (level["epsilon"], level["delta"]) == (epsilon, given.delta)
    if given.delta in (0, 1):
        assert level["beyond"] == (None if epsilon is None or given.delta else 0)
    else:
        assert given.delta < level["beyond"] <= 1
    assert found["mechanism"]["name"] == name
    assert found["mechanism"]["constants"] == mechanism.constants
    sizes = {key: found["mechanism"][key] for key in ("states", "actions", "horizon")}
    assert sizes == {"states": 2, "actions": 2, "horizon": 2}


@pytest.mark.parametrize("name", [name for name in for_tables() if name != "none"])
@pytest.mark.parametrize("epsilon", [0.5, 20.0])
def test_the_first_sentence_says_if_the_claim_fails(name: str, epsilon: float) -> None:
    """It fails exactly where building the mechanism warns of it."""
    for constants in (kind for other, kind in BUILT if other == name):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            mechanism = build_mechanism(name, SHAPE, epsilon, 0.1, constants=constants)
        warned = any(warning.category is PrivacyWarning for warning in caught)
        statement = privacy_statement(mechanism, [])
        assert statement.holds == (not warned)
        sentence = statement.to_text().partition(". ")[0]
        assert ("less private than claimed" in " ".join(sentence.split())) == warned


def test_a_failing_claim_in_words() -> None:
    """At ε = 20 the paper's Gaussian noise has δ = 0.986, not 0.1."""
    mechanism = build("gaussian", 20.0, "paper")
    assert first_sentence(mechanism) == (
        "Your reports are less private than claimed: the claim is ε = 20 with δ = 0.1, but at"
        f" this ε the true δ is {at_most(mechanism.guarantee.delta)}"
    )
    assert "fit for simulation, and a client refuses it" in words_of(mechanism)


@pytest.mark.parametrize("mechanism", [NoPrivacy(SHAPE), build("bounded-noise", 20.0, "paper")])
def test_no_privacy_in_words(mechanism: Mechanism) -> None:
    text = words_of(mechanism)
    assert text.startswith("Your reports are ")
    assert "what happened to you: a report may reveal all of it" in text
    assert "odds" not in text
    assert privacy_statement(mechanism).to_dict()["returning_user"] == []


def test_what_epsilon_one_means() -> None:
    """The factor is e = 2.718…; even odds become e : 1, that is e/(1 + e) = 73.1%."""
    text = words_of(Laplace(SHAPE, 1.0))
    assert text.startswith("Each of your reports is private, with ε = 1. ")
    assert "a factor of e^ε, 2.72." in text
    assert "at most 73.2% sure" in text
    assert "no exception to this limit (δ = 0)" in text
    assert "2 reports: a factor of 7.39 (ε = 2)" in text


def test_what_delta_means() -> None:
    text = words_of(Gaussian(SHAPE, 1.0, 1e-5))
    assert "with ε = 1 and δ = 1e-05." in text
    assert "with a chance of δ, 1 in 100,000, you are given away; otherwise" in text
    assert "can fail" not in text


@pytest.mark.parametrize(("epsilon", "delta"), [(1.0, 1e-3), (0.5, 1e-4), (3.0, 1e-5)])
def test_the_chance_to_go_beyond_is_never_too_small(epsilon: float, delta: float) -> None:
    """Against the law of the worst pair's losses, each rounded down; δ itself is too small."""
    mechanism = Gaussian(SHAPE, epsilon, delta)
    said = privacy_statement(mechanism, []).beyond
    assert said is not None
    losses = compose(mechanism.loss_pairs(), lower=True)
    least = losses.certain + float(losses.mass[losses.losses > epsilon].sum())
    assert 5 * delta < least <= said < 3 * least
    assert said == chance_beyond(mechanism.privacy_profile().delta, epsilon)
    assert f"with a chance of {chance(said)} at most" in words_of(mechanism)


def test_a_crowd_goes_beyond_more_often_than_delta() -> None:
    """A crowd of two bits at ε₀ = 1 against a neighbour that is all zeros, by counting.

    The batch shows how many ones there are: with the victim's bit 1 that is Bin(1, p) + Bin(1, q).
    """
    mechanism = build_mechanism("return-bits", SHAPE, 1.0)
    found = privacy_statement(mechanism, [], 2, 0.05).mixed
    assert found is not None
    p, q = math.e / (1 + math.e), 1 / (1 + math.e)
    first, second = [q * p, p * p + q * q, p * q], [p * p, 2 * p * q, q * q]
    odds_of = [math.log(a / b) for a, b in zip(first, second, strict=True)]
    above = sum(a for a, loss in zip(first, odds_of, strict=True) if loss > found.epsilon)
    assert above <= found.beyond
    assert found.beyond > 0.05
    blankets = mechanism.blankets()
    exact = chance_beyond(lambda epsilon: central_delta(blankets, 2, epsilon), found.epsilon)
    assert found.beyond == exact


def test_the_bound_is_least_over_all_smaller_levels() -> None:
    """For δ(ε) = e^{−kε} it is least at e^{ε' − ε} = k/(k + 1): (k + 1)^{k + 1}/k^k·e^{−kε}."""
    for k in (2, 20):
        least = (k + 1) ** (k + 1) / k**k * math.exp(-k * 2.0)
        found = chance_beyond(lambda at, k=k: math.exp(-k * at), 2.0)  # type: ignore[misc]
        assert least <= found < 1.02 * least
    assert chance_beyond(lambda _: 0.1, 0.0) == 1


def test_a_bit_of_the_return_in_words() -> None:
    """At ε = 2 the bit is turned around with probability 1/(e² + 1) = 0.119, 1 in 8.39."""
    text = words_of(build("return-bits", 2.0))
    assert "What you send is a single yes or no" in text
    assert "Your device lies about it with a chance of 1 in 8, and only" in text


def test_both_promises_behind_a_relay(monkeypatch: pytest.MonkeyPatch) -> None:
    """As the page on shuffling has it: ε₀ = 6.7 and 25 states in a crowd of 10⁵ have 0.638."""
    mechanism = build_mechanism("subset-selection", Shape(25, 4, 10), 6.7)
    found = privacy_statement(mechanism, [], 10**5)
    text = " ".join(found.to_text().split())
    assert "Even if relay and service work together, all of the above holds, with ε₀ = 6.7" in text
    assert "among at least 100,000, and all of them say no more" in text
    assert "a factor of 1.9 (ε = 0.638" in text
    assert "a chance of 1 in 100,000,000 (δ = 1e-08) you are given away; otherwise" in text
    crowd = found.to_dict()["crowd"]
    assert (crowd["crowd"], crowd["delta"]) == (10**5, 1e-8)
    blankets = mechanism.blankets()
    assert central_delta(blankets, 10**5, crowd["epsilon"]) <= 1e-8
    assert len(blankets) > 1
    monkeypatch.setattr(type(mechanism), "blankets", lambda _: blankets[::-1])
    again = privacy_statement(mechanism, [], 10**5).to_dict()["crowd"]
    assert again["epsilon"] == pytest.approx(crowd["epsilon"], rel=1e-5), "every question counts"
    with pytest.raises(InputError, match="for a crowd"):
        privacy_statement(Gaussian(SHAPE, 1.0, 1e-5), [], 100)


def test_weak_privacy_is_called_weak() -> None:
    """One report may leave less than 1% of doubt, or fails in more than one case of a hundred."""
    for weak in (build("laplace", 4.7), build("gaussian", 1.0)):
        assert "only weakly private" in first_sentence(weak)
    for strong in (build("laplace", 4.5), Gaussian(SHAPE, 1.0, 0.01)):
        assert "weakly" not in first_sentence(strong)


def spent(mechanism: Mechanism, reports: int) -> dict[str, Any]:
    found = privacy_statement(mechanism, [reports]).to_dict()["returning_user"]
    assert [row["reports"] for row in found] == [reports]
    row: dict[str, Any] = found[0]
    return row


@pytest.mark.parametrize("name", [name for name in for_tables() if name != "none"])
def test_a_returning_user(name: str) -> None:
    """Sums are exact; for 30 reports of ε = 0.1 composing at δ = 1e-6 saves a quarter."""
    mechanism = build(name, 0.1)
    delta = mechanism.guarantee.delta
    row = spent(mechanism, 3)
    assert row["basic"] == {"epsilon": 0.3, "delta": pytest.approx(3 * delta, abs=1e-16)}
    assert row["composed"]["delta"] == max(delta, 1e-6)
    assert row["composed"]["epsilon"] > 0.1
    if not delta:
        row = spent(mechanism, 30)
        # Nothing ε-LDP composes worse than randomized response of a bit: 22% less than the sum.
        share = 0.79 if name in ("return-bits", "bits-and-moves") else 0.75
        assert row["composed"]["epsilon"] < share * row["basic"]["epsilon"]


def test_gaussian_reports_compose_as_gaussians_do() -> None:
    """n reports are one whose noise is √n times smaller: δ(ε) of that noise, in closed form.

    The discrete Gaussian of a wide σ is close to the continuous one; both to 1%.
    """
    mechanism = Gaussian(SHAPE, 0.5, 1e-4)
    ratio = math.sqrt(l2_sensitivity_squared(mechanism.layout)) / mechanism.sigma
    composed = spent(mechanism, 9)["composed"]
    assert composed["delta"] == 1e-4
    assert gaussian_delta(3 * ratio, 1.01 * composed["epsilon"]) < 1e-4
    assert gaussian_delta(3 * ratio, 0.99 * composed["epsilon"]) > 1e-4


def test_one_report_composes_to_itself() -> None:
    for name in ("laplace", "randomized-response", "shuffle"):
        assert spent(build(name, 1.0), 1)["composed"]["epsilon"] <= 1.0


def test_composed_losses_are_the_mechanisms_own() -> None:
    """Against the profile of one mechanism with ten times as many counters."""
    mechanism = Laplace(SHAPE, 1.0)
    composed = spent(mechanism, 10)["composed"]["epsilon"]
    many = PrivacyProfile([replace(p, copies=10 * p.copies) for p in mechanism.loss_pairs()])
    assert many.delta(composed) <= 1e-6
    assert many.delta(0.995 * composed) > 1e-6


@pytest.mark.parametrize("reports", [0, -1, 1.5])
def test_reports_are_counted_in_whole_numbers(reports: int) -> None:
    with pytest.raises(InputError, match=r"reports\[1\] = "):
        privacy_statement(Laplace(SHAPE, 1.0), [1, reports])


def test_what_is_public_and_what_is_not_protected() -> None:
    text = words_of(Laplace(SHAPE, 1.0))
    for phrase in ("the policy that you are given", "that you sent a report", "that you take part"):
        assert phrase in text
    assert "the question" not in text, "this mechanism asks none"


def test_numbers_in_words() -> None:
    assert [odds(e) for e in (0.1, 1.0, 5.0, 20.0, 1000.0)] == [
        "1.11", "2.72", "149", "485,165,196", "more than a billion",
    ]  # fmt: skip
    assert [chance(p) for p in (1e-6, 1e-5, 0.1, 0.15, 0.3, 0.9861)] == [
        "1 in 1,000,000", "1 in 100,000", "1 in 10", "1 in 6", "30%", "98.7%",
    ]  # fmt: skip
    assert [at_most_sure(e) for e in (1e-9, 1.0, 8.0)] == [
        "at most 50.1%",
        "at most 73.2%",
        "almost",
    ]


def test_no_bound_in_words_is_below_the_bound() -> None:
    """Odds and chances, each read back from what is said."""
    rng = np.random.default_rng(0)
    for epsilon in rng.uniform(0, 20, 200).tolist():
        said = float(odds(epsilon).replace(",", ""))
        assert math.exp(epsilon) * (1 - 1e-12) <= said <= 1.01 * math.exp(epsilon)
    for probability in (10 ** rng.uniform(-9, -0.7, 200)).tolist():
        said = 1 / float(chance(probability).removeprefix("1 in ").replace(",", ""))
        assert probability * (1 - 1e-12) <= said


def test_lines_are_short_and_equations_whole() -> None:
    text = privacy_statement(Gaussian(SHAPE, 1.0, 1e-5)).to_text()
    assert max(map(len, text.splitlines())) <= 80
    assert not any(line.endswith(" =") or line.startswith("= ") for line in text.splitlines())
    assert paragraph("word " * 15 + "and ε = 1").splitlines()[-1].startswith("ε = 1")
