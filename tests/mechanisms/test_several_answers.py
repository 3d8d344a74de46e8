"""m questions about m steps, ε/m each: exactly ε in all, and sums that add up."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from ldprl import Assignment, InputError, Shape, SubsetSelection, Trajectory
from ldprl.audit import audit
from ldprl.mechanisms.mechanism import Guarantee
from ldprl.mechanisms.questions.joint import Joint
from ldprl.mechanisms.questions.question import Question
from ldprl.mechanisms.questions.reward import Reward
from ldprl.mechanisms.questions.transition import Transition
from ldprl.mechanisms.sampling import InsecureSource
from ldprl.mechanisms.subset_selection import LAYOUTS, LayoutName
from ldprl.shape import IntArray
from tests.mechanisms.subsets import chance_of, subsets
from tests.mechanisms.trajectories import all_trajectories

CERTAIN = 1000.0
SMALL = Shape(2, 2, 2)


def asked(mechanism: SubsetSelection, seed: int = 0) -> list[Assignment]:
    """Return an assignment for each leading question."""
    shape = mechanism.shape
    rng = np.random.default_rng(seed)
    policy = rng.integers(0, shape.actions, (shape.horizon, shape.states), dtype=np.int64)
    return list(mechanism.ask((Assignment(policy),)))


def items(episode: Trajectory, assignment: Assignment, shape: Shape) -> tuple[int, ...]:
    """Return what the user holds for each question; rewards are 0 or 1."""
    source = InsecureSource(0)
    return tuple(
        question.item(shape, assignment.table, episode, source) for question in assignment.questions
    )


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("answers", [2, 3])
def test_each_answer_has_its_share_of_epsilon(layout: LayoutName, answers: int) -> None:
    mechanism = SubsetSelection(Shape(3, 2, 4), 1.1, layout=layout, answers=answers)
    for what, _ in mechanism.questions():
        ratio = mechanism.oracle(what).ratio
        assert math.log(ratio) == pytest.approx(1.1 / answers, rel=1e-12)
        # e^{ε/m} from below: so the ratio to the power of m is at most e^ε.
        assert ratio**answers <= Fraction(math.exp(1.1)) * (1 + Fraction(1, 10**15))
    assert mechanism.guarantee == Guarantee(1.1, 0.0)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_no_two_users_are_told_apart_by_more_than_epsilon(layout: LayoutName) -> None:
    """Over all pairs of users and all reports, in exact numbers; one pair reaches ε."""
    epsilon = 2.5
    mechanism = SubsetSelection(SMALL, epsilon, layout=layout, answers=2)
    for assignment in asked(mechanism):
        oracles = [oracle for _, oracle, _ in mechanism.parts(assignment)]
        held = {items(episode, assignment, SMALL) for episode in all_trajectories(SMALL)}
        # Given the trajectory the answers are independent, so the worst report is one of
        # the worst parts.
        worst = Fraction(0)
        for one, other in product(held, held):
            ratio = Fraction(1)
            for oracle, mine, theirs in zip(oracles, one, other, strict=True):
                ratio *= max(
                    chance_of(oracle, part, mine) / chance_of(oracle, part, theirs)
                    for part in subsets(oracle)
                )
            worst = max(worst, ratio)
        assert math.log(worst) == pytest.approx(epsilon, rel=1e-12)
        assert worst <= math.prod(oracle.ratio for oracle in oracles)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("epsilon", [1.0, 6.0])
def test_the_profile_is_that_of_the_worst_answers(layout: LayoutName, epsilon: float) -> None:
    """δ(x) = Σ (P − e^x Q)⁺ over two independent answers, the most of all assignments."""
    mechanism = SubsetSelection(Shape(3, 2, 3), epsilon, layout=layout, answers=2)
    profile = mechanism.privacy_profile()
    assert profile.delta(epsilon) == 0
    assert profile.pure == pytest.approx(epsilon, rel=1e-9)
    for x in (0.0, 0.3 * epsilon, 0.8 * epsilon):
        worst = 0.0
        for assignment in asked(mechanism):
            first, second = (oracle.loss_pair() for _, oracle, _ in mechanism.parts(assignment))
            p = np.outer(first.first, second.first)
            q = np.outer(first.second, second.second)
            worst = max(worst, float(np.maximum(p - math.exp(x) * q, 0).sum()))
        assert profile.delta(x) == pytest.approx(worst, rel=1e-3)
        assert profile.delta(x) >= worst * (1 - 1e-12)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_the_attacker_finds_no_more_than_epsilon(layout: LayoutName) -> None:
    """Type-I error 2e-6; and what is given is nearly found."""
    mechanism = SubsetSelection(SMALL, 3.0, layout=layout, answers=2)
    result = audit(mechanism, mechanism.guarantee, samples=20_000)
    assert result.verdict == "holds"
    assert result.empirical_epsilon_lower > 1.5


class WholeEpsilonEach(SubsetSelection):
    """The mutant: both answers are given with the whole ε."""

    def __init__(self, epsilon: float) -> None:
        super().__init__(SMALL, 2 * epsilon, layout="joint", answers=2)


def test_two_answers_with_the_whole_epsilon_are_convicted() -> None:
    result = audit(WholeEpsilonEach(3.0), Guarantee(3.0, 0.0), samples=20_000)
    assert result.verdict != "holds"
    assert result.empirical_epsilon_lower > 3.0


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("shape", [SMALL, Shape(3, 2, 3), Shape(2, 3, 3, step_dependent=True)])
@pytest.mark.parametrize("answers", [1, 2])
def test_every_user_answers_every_question(shape: Shape, layout: LayoutName, answers: int) -> None:
    """One part of the report after the other, each with its own ⊥ at the end."""
    mechanism = SubsetSelection(shape, CERTAIN, layout=layout, answers=answers)
    episodes = [*all_trajectories(SMALL)] if shape == SMALL else []
    rng = np.random.default_rng(1)
    for _ in range(40):
        draws = [rng.integers(0, n, shape.horizon) for n in (shape.states, shape.actions, 2)]
        episodes.append(Trajectory(*(draw.tolist() for draw in draws)))
    for assignment in asked(mechanism):
        sizes = [oracle.items for _, oracle, _ in mechanism.parts(assignment)]
        starts = np.cumsum([0, *sizes[:-1]])
        for episode in [*episodes, Trajectory.empty()]:
            report = mechanism.privatize(episode, assignment, InsecureSource(0))
            expected = starts + items(episode, assignment, shape)
            assert np.flatnonzero(report).tolist() == expected.tolist()
            many = np.asarray(mechanism.privatize_many(episode, assignment, 3, InsecureSource(0)))
            assert (many == report).all()


def mean_report(
    mechanism: SubsetSelection, held: tuple[int, ...], assignment: Assignment
) -> IntArray:
    """Return the mean of a user's reports, item by item."""
    parts = []
    for (_, oracle, _), item in zip(mechanism.parts(assignment), held, strict=True):
        inclusion = np.full(oracle.items, float(oracle.chance))
        inclusion[item] = float(oracle.keep)
        parts.append(inclusion)
    return np.concatenate(parts)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("shape", [SMALL, Shape(3, 2, 3), Shape(2, 3, 3, step_dependent=True)])
def test_decoding_is_the_sum_of_what_single_questions_tell(
    shape: Shape, layout: LayoutName
) -> None:
    """Unbiased: the mean report of every user decodes to what certain answers say. One user."""
    several = SubsetSelection(shape, 2.0, layout=layout, answers=2)
    certain = SubsetSelection(shape, CERTAIN, layout=layout, answers=1)
    rng = np.random.default_rng(2)
    for assignment in asked(several, seed=3):
        for _ in range(10):
            draws = [rng.integers(0, n, shape.horizon) for n in (shape.states, shape.actions, 2)]
            episode = Trajectory(*(draw.tolist() for draw in draws))
            found = several.decode(
                mean_report(several, items(episode, assignment, shape), assignment), 1, assignment
            )
            truth = certain.no_statistics()
            for question in assignment.questions:
                alone = Assignment(assignment.table, 1.0, (question,))
                report = certain.privatize(episode, alone, InsecureSource(0))
                truth += certain.decode(report, 1, alone)
            assert found.users == 1
            for name in ("rewards", "visits", "transitions", "arrivals"):
                got, expected = getattr(found, name), getattr(truth, name)
                np.testing.assert_allclose(got, expected, atol=1e-9, err_msg=name)
            for name in ("reports", "transition_reports", "asked"):
                np.testing.assert_array_equal(getattr(found, name), getattr(truth, name))


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("answers", [1, 2, 4])
def test_asking_goes_round_the_steps(layout: LayoutName, answers: int) -> None:
    mechanism = SubsetSelection(Shape(2, 2, 4), 8.0, layout=layout, answers=answers)
    plan = asked(mechanism)
    assert [(it.questions[0].what, it.questions[0].step) for it in plan] == mechanism.questions()
    assert sum(it.share for it in plan) == pytest.approx(1)
    for assignment in plan:
        first = assignment.questions[0].step
        assert [q.step for q in assignment.questions] == [(first + i) % 4 for i in range(answers)]
        for question in assignment.questions:
            assert (question.what, question.step) in mechanism.questions()


def test_the_number_of_answers_is_chosen_by_variance() -> None:
    """One up to ε = 12, and more only at large ε: never more than there are steps."""
    for states, horizon in product((2, 3, 5, 10, 20), (1, 2, 5)):
        shape = Shape(states, 2, horizon)
        found = [SubsetSelection(shape, e).answers for e in (0.2, 2.0, 6.0, 12.0, 20.0, 40.0)]
        assert found[:4] == [1] * 4
        assert found == sorted(found)
        assert (found[-1] > 1) == (horizon > 1)
        assert found[-1] <= horizon
    assert SubsetSelection(Shape(2, 2, 5), 20.0).answers == 3
    assert SubsetSelection(Shape(3, 2, 5), 20.0).answers == 2
    assert SubsetSelection(Shape(5, 2, 5), 14.0).answers == 1
    assert SubsetSelection(Shape(2, 2, 5), 1.0, answers=3).answers == 3


def test_what_makes_no_sense_is_refused() -> None:
    for answers in (0, 3, -1, 1.5, True, "many", None):
        with pytest.raises(InputError, match="answers"):
            SubsetSelection(SMALL, 2.0, answers=answers)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="answers"):
        SubsetSelection(SMALL, 1e-4, answers=2)
    even = np.ones(2)
    policy = np.zeros((2, 2), dtype=np.int64)
    with pytest.raises(InputError, match="distinct steps"):
        Assignment(policy, 1.0, (Question(Reward(), 0, even), Question(Transition(), 0, even)))
    mechanism = SubsetSelection(SMALL, 2.0, answers=1, layout="joint")
    both = tuple(Question(Joint(), step, even) for step in (0, 1))
    with pytest.raises(InputError, match=r"assignment\.questions = 2"):
        mechanism.privatize(Trajectory.empty(), Assignment(policy, 1.0, both), InsecureSource(0))
