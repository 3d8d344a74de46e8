"""Who is asked for certificates: one policy at a time, and the incumbent while it matters."""

from __future__ import annotations

import math

import numpy as np
import pytest

from ldprl.assignment import Assignment, Plan, check_plan
from ldprl.certificates import Bits, Evidence, Interval, Scale, Terms, certificate
from ldprl.certificates.caution import cautious_shares, most_short
from ldprl.certificates.evidence import certifying, is_certifying
from ldprl.mechanisms.questions.question import Question
from ldprl.mechanisms.questions.worth import Worth
from ldprl.shape import Policy, Shape

SHAPE = Shape(2, 3, 2)
SCALE = Scale(0.9, 2)


def policy(action: int) -> Policy:
    return np.full((2, 2), action)


LEARNING: Plan = (Assignment(policy(2), 0.25), Assignment(policy(1), 0.75))


def asked(evidence: Evidence, users: int, best: int) -> dict[int, float]:
    """Let a plan be made, and return the shares that answer for the certificate, by action."""
    plan = check_plan(evidence.asked(LEARNING, users, lambda: policy(best)), SHAPE)
    evidence.note(users, plan)
    assert [one.share for one in plan[:2]] == pytest.approx([0.8 * 0.25, 0.8 * 0.75])
    assert all(map(is_certifying, plan[2:]))
    return {int(one.table[0, 0]): one.share for one in plan[2:]}


def answer(evidence: Evidence, action: int, users: int, ones: int) -> None:
    plan = evidence.asked(LEARNING, 0, lambda: policy(action))
    assignment = next(one for one in plan[2:] if one.table[0, 0] == action)
    evidence.add(assignment, users, np.array([users - ones, ones]))


def test_without_an_incumbent_the_policy_has_the_whole_share() -> None:
    evidence = Evidence(Terms(0.2, 0.95, SCALE))
    assert asked(evidence, 0, 1) == {1: pytest.approx(0.2)}
    answer(evidence, 1, 10, 4)
    assert evidence.bits == [Bits(10, 4)]
    assert evidence.certificate(0).better is None
    assert evidence.incumbent_certificate() is None


def test_a_policy_is_kept_until_there_are_twice_as_many_users() -> None:
    evidence = Evidence(Terms(0.2, 0.95, SCALE))
    assert list(asked(evidence, 0, 0)) == [0]
    assert list(asked(evidence, 100, 1)) == [1]
    assert list(asked(evidence, 199, 2)) == [1]
    assert list(asked(evidence, 200, 1)) == [1]
    assert list(asked(evidence, 201, 2)) == [2]
    # It comes back, and continues where it stopped.
    assert list(asked(evidence, 402, 1)) == [1]
    assert (evidence.current, evidence.chosen_at) == (1, [0, 100, 201])


def test_a_policy_is_not_kept_longer_than_the_memory() -> None:
    evidence = Evidence(Terms(0.2, 0.95, SCALE, memory=50))
    assert list(asked(evidence, 100, 0)) == [0]
    assert list(asked(evidence, 149, 1)) == [0]
    assert list(asked(evidence, 150, 1)) == [1]


def test_the_incumbent_has_half_of_the_share_until_it_is_certain_which_is_better() -> None:
    evidence = Evidence(Terms(0.2, 0.95, SCALE, incumbent=policy(0)))
    half = pytest.approx(0.1)
    assert asked(evidence, 0, 0) == {0: pytest.approx(0.2)}
    assert (evidence.current, evidence.policies) == (None, [])
    assert asked(evidence, 100, 1) == {1: half, 0: half}
    answer(evidence, 1, 1000, 700)
    evidence.incumbent += Bits(1000, 690)
    assert asked(evidence, 110, 1) == {1: half, 0: half}
    answer(evidence, 1, 1000, 900)
    evidence.incumbent += Bits(1000, 300)
    better = evidence.certificate(0).better
    assert better is not None
    assert better.low > 0
    assert asked(evidence, 120, 1) == {1: pytest.approx(0.2)}
    # The same where it is certain that the policy is worse.
    worse = Evidence(Terms(0.2, 0.95, SCALE, incumbent=policy(0)))
    asked(worse, 100, 1)
    answer(worse, 1, 2000, 600)
    worse.incumbent += Bits(1500, 1200)
    assert asked(worse, 120, 1) == {1: pytest.approx(0.2)}
    # A new policy is compared again, with all that the incumbent's users have said: they are asked
    # again when it has as many answers as they.
    assert asked(evidence, 200, 2) == {2: pytest.approx(0.2)}
    answer(evidence, 2, 2000, 1000)
    assert asked(evidence, 210, 2) == {2: half, 0: half}


def test_with_an_alarm_the_incumbent_goes_on_as_policies_change() -> None:
    evidence = Evidence(Terms(0.2, 0.95, SCALE, incumbent=policy(0), alarm=0.01))
    asked(evidence, 100, 1)
    evidence.incumbent += Bits(10, 5)
    assert set(asked(evidence, 200, 2)) == {0, 2}


def test_a_change_is_noticed_across_the_plans_of_a_policy() -> None:
    evidence = Evidence(Terms(0.2, 0.95, SCALE, alarm=0.01))
    for users, ones in ((100, 80), (120, 80), (140, 20)):
        assert evidence.change() is None
        asked(evidence, users, 1)
        answer(evidence, 1, 100, ones)
    found = evidence.change()
    assert found is not None
    assert (found.policy, found.since) == (0, 140)
    # A bit is reported unchanged with probability 0.9, and returns go up to 2.
    assert (found.before, found.after) == pytest.approx((1.75, 0.25))
    assert Evidence(Terms(0.2, 0.95, SCALE)).change() is None


def test_the_incumbents_answers_are_looked_at_first() -> None:
    evidence = Evidence(Terms(0.2, 0.95, SCALE, incumbent=policy(0), alarm=0.01))
    for users, ones in ((100, 80), (120, 20)):
        asked(evidence, users, 1)
        answer(evidence, 0, 200, 2 * ones)
    found = evidence.change()
    assert found is not None
    assert (found.policy, found.since) == (None, 120)


def test_each_policy_is_certified_at_its_own_place() -> None:
    evidence = Evidence(Terms(0.2, 0.95, SCALE, incumbent=policy(0)))
    evidence.incumbent += Bits(1000, 400)
    for users, action in ((100, 1), (300, 2)):
        asked(evidence, users, action)
        answer(evidence, action, 1000, 700)
    found = [evidence.certificate(place) for place in range(2)]
    assert found == [
        certificate(Bits(1000, 700), place, SCALE, 0.95, Bits(1000, 400)) for place in (1, 2)
    ]
    assert found[0] != found[1]


def test_all_series_and_stretches_share_the_probability_of_an_alarm(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The j-th series has 1/(j(j + 1)) of it, and of that the stretch from its i-th block on."""
    levels: list[float] = []

    def seen(blocks: list[Bits], failure: float) -> None:
        levels.append(failure)

    monkeypatch.setattr("ldprl.certificates.evidence.changed_at", seen)
    evidence = Evidence(Terms(0.2, 0.95, SCALE, incumbent=policy(0), alarm=0.01, memory=200))
    for number in range(5):
        asked(evidence, 100 * (number + 1), 1 if number < 2 else 2)
        answer(evidence, 1 if number < 2 else 2, 100, 60)
    levels.clear()
    assert evidence.change() is None
    # Of five blocks of the incumbent two are remembered, of the others' two and three none and two.
    stretches = [4, 3, 2]
    wanted = [
        0.01 / (j * (j + 1)) / (i * (i + 1)) for j, i in zip((1, 2, 3), stretches, strict=True)
    ]
    assert levels == pytest.approx(wanted)


@pytest.mark.parametrize(("ones", "safer", "least"), [(5000, 0, 0), (9000, 1, 0), (5000, 0, 3)])
def test_a_cautious_plan_takes_the_lower_bounds(ones: int, safer: int, least: float) -> None:
    """Of the policy under certificate, worse or better than the incumbent, above the least."""
    scale = Scale(0.9, 2 + least, least)
    evidence = Evidence(Terms(0.2, 0.95, scale, incumbent=policy(0), most_lost=0.1))
    first = evidence.asked(LEARNING, 0, lambda: policy(1))
    assert {int(one.table[0, 0]) for one in first} == {0}
    evidence.add(LEARNING[0], 10**6, np.zeros(2, dtype=np.int64))
    untried = evidence.asked(LEARNING, 10**6, lambda: policy(1))
    unknown = cautious_shares(0.1, 10**6, 0.05, 0.0, 1.0, 0.2)
    assert sum(one.share for one in untried[:2]) == pytest.approx(unknown.exploring)
    assert untried[2].share == pytest.approx(unknown.candidate)
    evidence.note(10**6, untried)
    evidence.incumbent += Bits(10_000, 6000)
    evidence.bits[0] += Bits(10_000, ones)
    own, better = evidence.incumbent_certificate(), evidence.certificate(0).better
    assert own is not None
    assert better is not None
    above = Interval(own.worth.low - least, own.worth.high - least)
    short = most_short(better.low, above)
    wanted = cautious_shares(
        0.1, 10**6, 0.05, min(short, 0.0), max(short, 0.0) if not safer else short,
        0.0 if safer else 0.2,
    )  # fmt: skip
    plan = check_plan(evidence.asked(LEARNING, 10**6 + 1, lambda: policy(1)), SHAPE)
    exploring = sum(one.share for one in plan[:2])
    assert exploring == pytest.approx(wanted.exploring)
    assert [one.share for one in plan[:2]] == pytest.approx([exploring / 4, exploring * 3 / 4])
    given = sum(one.share for one in plan[2:] if one.table[0, 0] == 1)
    rest = 1 - wanted.exploring - wanted.candidate
    assert given == pytest.approx(rest if safer else wanted.candidate)
    assert sum(one.share for one in plan) == pytest.approx(1)


@pytest.mark.parametrize("confidence", [0.95, 0.5])
def test_nobody_explores_before_enough_is_saved(confidence: float) -> None:
    """ln(1/α)/(0.1·m) users, with the α of the certificates."""
    least = math.ceil(math.log(1 / (1 - confidence)) / (0.1 * 0.05))
    terms = Terms(0.2, confidence, SCALE, incumbent=policy(0), most_lost=0.05)
    for users in (least - 1, least):
        evidence = Evidence(terms)
        evidence.add(LEARNING[0], users, np.zeros(2, dtype=np.int64))
        plan = evidence.asked(LEARNING, users, lambda: policy(1))
        assert ({int(one.table[0, 0]) for one in plan} == {0}) is (users < least)


def test_answers_to_the_learners_questions_are_no_evidence() -> None:
    evidence = Evidence(Terms(0.2, 0.95, SCALE))
    asked(evidence, 0, 1)
    evidence.add(LEARNING[1], 10, np.array([3, 7]))
    assert evidence.bits == [Bits(0, 0)]


def test_a_question_without_weight_is_no_evidence() -> None:
    """Earlier versions asked such ones of users who explored, and their plans are kept."""
    weightless = Question(Worth(), 0, np.zeros(2))
    assert not is_certifying(Assignment(policy(1), 1.0, (weightless,)))
    assert not is_certifying(Assignment(policy(1)))
    assert is_certifying(certifying(policy(1), 0.5))


def test_what_the_operator_had_forgotten_is_no_change() -> None:
    evidence = Evidence(Terms(0.2, 0.95, SCALE, alarm=0.01, since=140))
    for users, ones in ((100, 80), (120, 80), (140, 20), (160, 20)):
        asked(evidence, users, 1)
        answer(evidence, 1, 100, ones)
    assert evidence.change() is None


def test_a_change_is_over_when_the_old_world_is_forgotten() -> None:
    evidence = Evidence(Terms(0.2, 0.95, SCALE, alarm=0.01, memory=300))
    seen = []
    for plan in range(8):
        asked(evidence, 1000 + 100 * plan, 1)
        answer(evidence, 1, 100, 80 if plan < 3 else 20)
        found = evidence.change()
        seen.append(None if found is None else found.since)
    assert seen == [None, None, None, 1300, 1300, None, None, None]
