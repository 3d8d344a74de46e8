"""Threshold bits: their law, their refusals, and sums that are those of one user at a time."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy import stats

from ldprl import InputError, Laplace, Shape
from ldprl.assignment import Assignment, check_plan
from ldprl.audit import audit
from ldprl.audit.neighbours import worst_pairs
from ldprl.mechanisms import threshold_bits
from ldprl.mechanisms.by_name import build_mechanism
from ldprl.mechanisms.questions.returns import UNIT
from ldprl.mechanisms.questions.threshold import CELLS, Threshold
from ldprl.mechanisms.return_sums import ReturnSums, tally_of
from ldprl.mechanisms.sampling import InsecureSource, SystemSource
from ldprl.mechanisms.threshold_bits import ThresholdBits
from ldprl.mechanisms.total import Total
from ldprl.policies.linear import Linear
from ldprl.policies.perturbed import Perturbed
from ldprl.protocol.deployment import Deployment
from ldprl.protocol.messages import Issued
from ldprl.protocol.statement import privacy_statement
from ldprl.service.plans import plan_from, plan_text

PROBLEM = Linear(features=("x", "y"), actions=("a", "b"), horizon=3, returns=(-2, 6))
MECHANISM = ThresholdBits(PROBLEM, 1.0)
FALLING = tuple(range(UNIT, 0, -UNIT // CELLS))
ASKED = Threshold(20_000, 40_000, FALLING)


def law(seed: str = "1" * 32, spread: float = 0.5) -> Perturbed:
    size = PROBLEM.size
    mean = np.linspace(-1, 1, size, dtype=np.float32)
    return Perturbed(PROBLEM, seed, mean, np.full(size, spread, dtype=np.float32))


PLAN = (Assignment(law(), 1.0, (ASKED,)),)


def test_the_bit_is_as_private_as_epsilon_says() -> None:
    for epsilon in (0.1, 1.0, 8.0):
        mechanism = ThresholdBits(PROBLEM, epsilon)
        profile = mechanism.privacy_profile()
        assert (mechanism.guarantee.epsilon, mechanism.guarantee.delta) == (epsilon, 0)
        assert epsilon - 1e-9 <= profile.pure <= epsilon
        odds = np.exp(epsilon)
        assert mechanism.flip == pytest.approx(1 / (odds + 1))
        assert mechanism.kept == pytest.approx(odds / (odds + 1))
        assert mechanism.variance == pytest.approx(0.25 * ((odds + 1) / (odds - 1)) ** 2)
        # Each of the two answers is a lie with the chance f, whoever the user is.
        (blanket,) = mechanism.blankets()
        assert blanket.local_epsilon == pytest.approx(epsilon)
        assert blanket.weight == pytest.approx(2 / (odds + 1))


def test_the_attack_finds_epsilon_and_no_more() -> None:
    found = audit(MECHANISM, MECHANISM.guarantee, samples=20_000)
    assert 0.85 < found.empirical_epsilon_lower <= 1.0
    assert (found.verdict, found.pair) == ("holds", "most or least")
    pairs = [(one.first.value, one.second.value) for one in worst_pairs(MECHANISM)]
    assert pairs == [(6.0, -2.0), (6.0, None)]


def test_a_mechanism_that_lies_less_is_caught() -> None:
    assert audit(ThresholdBits(PROBLEM, 1.5), MECHANISM.guarantee, 20_000).verdict == "violated"


def test_the_statement_says_what_is_sent() -> None:
    statement = privacy_statement(MECHANISM)
    assert statement.holds
    assert statement.question
    assert "a single yes or no" in statement.report
    assert statement.to_dict()["mechanism"]["parameters"] == PROBLEM.size


@pytest.mark.parametrize("wide", [False, True])
@pytest.mark.parametrize("word", [0, 1, 2**31, 2**32 - 1])
def test_thresholds_are_exact_and_lie_in_their_cells(word: int, wide: bool) -> None:
    words, wides = np.array([word], dtype=np.uint32), np.array([wide])
    low, high = (0, UNIT) if wide else (ASKED.low, ASKED.high)
    exact = (low * 2**32 + (high - low) * word) / 2**48
    (threshold,), (cell,) = ASKED.thresholds(words, wides), ASKED.cells(words, wides)
    assert threshold == exact
    assert cell == int(threshold * CELLS)


def test_a_return_is_cut_to_its_range_and_compared_strictly() -> None:
    words, wide = np.array([2**31] * 5, dtype=np.uint32), np.ones(5, dtype=bool)
    returns = np.array([-1e300, 2.0, 2.0 + 1e-15 * 4, 6.0, 1e300])
    assert MECHANISM.true_bits(ASKED, returns, words, wide).tolist() == [0, 0, 1, 1, 1]


def test_who_leaves_reports_a_coin() -> None:
    """Of 40,000 reports half are 1, within 6 standard deviations; of the largest return 73%."""
    own = PLAN[0].drawn(7)
    gone = MECHANISM.privatize_many(Total(None), own, 40_000, InsecureSource(1))
    there = MECHANISM.privatize_many(Total(6.0), own, 40_000, InsecureSource(1))
    assert abs(gone[:, 1].mean() - 0.5) < 6 * 0.0025
    assert abs(there[:, 1].mean() - (1 - MECHANISM.flip)) < 6 * 0.0025
    likelihood = MECHANISM.log_likelihood(gone, Total(None), own)
    assert np.allclose(likelihood, np.log(0.5))


def users(count: int, seed: int = 0) -> tuple[Any, ...]:
    rng = np.random.default_rng(seed)
    numbers = rng.integers(2**53, size=count).tolist()
    bits = rng.integers(2, size=count)
    return numbers, bits


def test_sums_are_those_of_one_user_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """The codec, all users at once or a few, shifts drawn before or not, and a plain loop."""
    numbers, bits = users(500)
    codec, size = MECHANISM.codec(PLAN[0]), PROBLEM.size
    shifts, (words, wide) = law().perturbation(numbers), law().public_words(numbers)
    expected = np.zeros(codec.length, dtype=np.int64)
    for xi, word, far, bit in zip(shifts, words, wide, bits, strict=True):
        low, high = (0, UNIT) if far else (ASKED.low, ASKED.high)
        cell = int((low + (high - low) * (int(word) / 2**32)) / UNIT * CELLS)
        expected[cell] += 1
        expected[CELLS + cell] += bit
        x = xi.astype(np.int64)
        for row, weight in enumerate((1, int(bit), FALLING[cell])):
            start = 2 * CELLS + row * size
            expected[start : start + size] += weight * x
            expected[start + 3 * size : start + 4 * size] += weight * (x**2 - 1)
    reports = [[int(bit)] for bit in bits]
    np.testing.assert_array_equal(codec.total(reports, numbers), expected)
    with monkeypatch.context() as fewer:
        fewer.setattr(threshold_bits, "_AT_ONCE", 7 * size)
        np.testing.assert_array_equal(codec.total(reports, numbers), expected)
    drawn = [codec.drawn(*one) for one in zip(reports, numbers, strict=True)]
    np.testing.assert_array_equal(drawn[0][0].total([values for _, values in drawn]), expected)
    fast = MECHANISM.sums(ASKED, shifts, words, wide, bits == 1)
    np.testing.assert_array_equal(fast, expected)


def test_drawing_many_parameters_costs_as_much_as_drawing_tables_does() -> None:
    """An eighth of a row each: a service draws them in turn, and not while a commit waits."""
    actions = [f"action {i}" for i in range(4000)]
    large = Linear(features=("x", "y"), actions=actions, horizon=3, returns=(0, 1))
    even = np.ones(large.size, dtype=np.float32)
    many = Assignment(Perturbed(large, "1" * 32, large.start, even), 1.0, (ASKED,))
    assert ThresholdBits(large, 1.0).codec(many).rows == large.size // 8 == 1500


def test_sums_are_exact_however_many_there_are() -> None:
    """100,003 users at odd numbers: a float32 has 24 bits, and these sums have 37."""
    odd = replace(ASKED, baseline=(UNIT - 1,) * CELLS)
    shifts = np.random.default_rng(0).choice(np.array([-2, 1, 2], dtype=np.int8), (100_003, 2))
    cells, bits = np.zeros(len(shifts), dtype=np.int64), np.ones(len(shifts), dtype=bool)
    moments = tally_of(odd, shifts, cells, bits)[2 * CELLS :].reshape(2, 3, 2)
    exact = shifts.astype(np.int64)
    for row, weight in enumerate((1, 1, UNIT - 1)):
        assert moments[0, row].tolist() == (weight * exact.sum(axis=0)).tolist()
        assert moments[1, row].tolist() == (weight * (exact**2 - 1).sum(axis=0)).tolist()


def test_sums_of_two_servers_are_added_law_by_law() -> None:
    parts: list[ReturnSums] = []
    for seed in ("1" * 32, "2" * 32, "1" * 32):
        one = Assignment(law(seed), 1.0, (ASKED,))
        numbers, bits = users(50, len(parts))
        tally = MECHANISM.codec(one).total([[int(bit)] for bit in bits], numbers)
        parts.append(MECHANISM.decode(tally, 50, one))
    total = parts[0] + parts[1] + parts[2] + ReturnSums()
    assert total.users == 150
    assert [one.users for one in total.laws] == [100, 50]
    late = parts[0] + (parts[1] + parts[2])
    for here, there in zip(total.laws, late.laws, strict=True):
        np.testing.assert_array_equal(here.tally, there.tally)


def test_the_mean_return_of_one_policy_is_known_without_bias() -> None:
    """With no spread and thresholds over the whole range: mean 1 + noise, within 6 deviations."""
    rng, count = np.random.default_rng(3), 200_000
    flat = Threshold(0, UNIT, FALLING)
    words = rng.integers(2**32, size=count, dtype=np.uint32)
    returns, wide = rng.choice([-2.0, 4.0], size=count), rng.random(count) < 0.1
    bits = MECHANISM.randomized(MECHANISM.true_bits(flat, returns, words, wide), rng)
    above = (bits.mean() - MECHANISM.flip) / MECHANISM.contrast
    spread = 6 * 8 * np.sqrt(MECHANISM.variance / count)
    assert abs(-2 + 8 * above - 1.0) < spread
    assert abs(-2 + 8 * bits.mean() - 1.0) > spread, "the mutant that does not decode"


def test_numbers_of_users_give_thresholds_of_the_stated_law() -> None:
    """Kolmogorov–Smirnov on the thresholds that are not wide; a tenth of all are."""
    numbers = np.random.default_rng(5).integers(2**53, size=20_000).tolist()
    words, wide = law().public_words(numbers)
    found = ASKED.thresholds(words, wide)[~wide]
    inside = (found * UNIT - ASKED.low) / (ASKED.high - ASKED.low)
    assert stats.kstest(inside, "uniform").pvalue > 1e-6
    assert abs(wide.mean() - 26 / 256) < 6 * np.sqrt(0.1 * 0.9 / 20_000)


BAD = [
    ({"low": 40_000, "high": 40_000}, "high"),
    ({"low": -1}, "low"),
    ({"high": UNIT + 1}, "high"),
    ({"low": 0.5}, "low"),
    ({"high": True}, "high"),
    ({"own": (2**32, True)}, "own"),
    ({"own": (1, 1)}, "own"),
    ({"baseline": FALLING[:-1]}, "baseline"),
    ({"baseline": tuple(reversed(FALLING))}, "baseline"),
    ({"baseline": (UNIT + 1, *FALLING[1:])}, "baseline"),
    ({"baseline": (0.5,) * CELLS}, "baseline"),
]


@pytest.mark.parametrize(("changed", "field"), BAD)
def test_a_malformed_question_is_refused_before_anything_is_drawn(
    changed: dict[str, Any], field: str
) -> None:
    document = ASKED.document() | changed
    # As JSON has it, so that no other form is what is refused.
    document |= {key: list(document[key]) for key in ("baseline", "own") if key in document}
    with pytest.raises(InputError) as caught:
        MECHANISM.read_question("questions[0]", document)
    assert caught.value.field == f"questions[0].{field}"
    with pytest.raises(InputError, match=field):
        check_plan((Assignment(law(), 1.0, (replace(ASKED, **changed),)),), PROBLEM)


@pytest.mark.parametrize("document", [None, [], {}, {"kind": "return"}, {"kind": "threshold"}])
def test_what_is_no_question_is_refused(document: object) -> None:
    with pytest.raises(InputError, match="questions"):
        MECHANISM.read_question("questions[0]", document)


def test_what_is_not_asked_for_is_refused() -> None:
    with pytest.raises(InputError, match="seed"):
        MECHANISM.read_question("questions[0]", ASKED.document() | {"seed": "1"})
    with pytest.raises(InputError, match="law of shifted parameters"):
        check_plan((Assignment(law().policy(3), 1.0, (ASKED,)),), PROBLEM)
    with pytest.raises(InputError, match="one threshold"):
        MECHANISM.codec(Assignment(law(), 1.0))
    with pytest.raises(InputError, match="own"):
        check_plan((Assignment(law(), 1.0, (replace(ASKED, own=(1, True)),)),), PROBLEM)
    with pytest.raises(InputError, match="drew a number"):
        MECHANISM.codec(Assignment(law().policy(3), 1.0, (ASKED,)))
    with pytest.raises(InputError, match="drew a number"):
        MECHANISM.privatize(Total(1.0), PLAN[0], SystemSource())
    with pytest.raises(InputError, match="total"):
        MECHANISM.privatize(Total(float("nan")), PLAN[0].drawn(1), SystemSource())
    for values in ([], [2], [0, 1], [-1]):
        with pytest.raises(InputError, match="values"):
            MECHANISM.codec(PLAN[0]).admit(values)
    with pytest.raises(InputError, match="policies with parameters"):
        build_mechanism("threshold-bits", Shape(2, 2, 2), 1.0)
    with pytest.raises(InputError, match="finitely many states"):
        build_mechanism("laplace", PROBLEM, 1.0)
    with pytest.raises(InputError, match="epsilon"):
        ThresholdBits(PROBLEM, 0.0)


def test_a_plan_is_stored_and_an_assignment_sent() -> None:
    deployment = Deployment("any", PROBLEM, "1", "threshold-bits", learner="ldp-es")
    (stored,) = plan_from(plan_text(PLAN), deployment.built)
    assert stored.questions == (ASKED,)
    built = deployment.built
    by_law = Issued(deployment.digest, 1, 0, PLAN[0]).document(built) | {"number": 12}
    by_policy = Issued(deployment.digest, 1, 0, PLAN[0], 12).document(built)
    # As a journal writes it down.
    drawn = Issued(deployment.digest, 1, 0, PLAN[0].drawn(12), 12).document(built)
    assert by_policy == drawn
    for sent in (by_law, by_policy):
        document = json.loads(json.dumps(sent))
        received = Issued.from_document(document, deployment, 12).assignment
        assert received.questions == (ASKED.drawn(law(), 12),)
        parameters = received.policy.parameters  # type: ignore[attr-defined]
        np.testing.assert_array_equal(parameters, law().parameters([12])[0])
    chosen = by_law | {"questions": by_policy["questions"]}
    with pytest.raises(InputError, match="none under a law"):
        Issued.from_document(chosen, deployment, 12)
    report = deployment.built.privatize(Total(3.0), received, SystemSource())
    assert deployment.built.codec(received).write(report) in ([0], [1])


def test_tables_have_mechanisms_of_their_own() -> None:
    assert not Laplace(Shape(2, 2, 2), 1.0).reads_return
    assert MECHANISM.reads_return
    with pytest.raises(InputError, match="finitely many states"):
        _ = MECHANISM.shape
