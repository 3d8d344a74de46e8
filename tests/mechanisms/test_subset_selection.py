"""One question, the whole ε: what is asked, what is answered, and what decoding makes of it."""

from __future__ import annotations

import math
from itertools import product
from typing import Any

import numpy as np
import pytest

from ldprl import Assignment, InputError, Shape, SubsetSelection, Trajectory
from ldprl.catalogue import build
from ldprl.mechanisms.by_name import build_mechanism
from ldprl.mechanisms.questions.joint import Joint
from ldprl.mechanisms.questions.question import Question
from ldprl.mechanisms.questions.reward import Reward
from ldprl.mechanisms.sampling import InsecureSource, SystemSource
from ldprl.mechanisms.subset_selection import LAYOUTS, LayoutName
from ldprl.shape import IntArray
from ldprl.statistics import Statistics
from tests.mechanisms.subsets import chance_of, subsets
from tests.mechanisms.trajectories import all_trajectories

SHAPES = [Shape(2, 2, 2), Shape(3, 2, 3), Shape(2, 3, 3, step_dependent=True), Shape(1, 1, 1)]
CERTAIN = 1000.0
"""At this ε the own item is reported except in one case of 2⁶⁴."""


def policy_of(shape: Shape, seed: int = 0) -> IntArray:
    return np.random.default_rng(seed).integers(
        0, shape.actions, (shape.horizon, shape.states), dtype=np.int64
    )


def every_question(mechanism: SubsetSelection, seed: int = 0) -> list[Assignment]:
    """Return an assignment for each question, with weights that differ from state to state."""
    shape = mechanism.shape
    weights = np.linspace(0.3, 1.0, shape.states)
    policy = policy_of(shape, seed)
    return [
        Assignment(policy, 1.0, (Question(what, step, weights),))
        for what, step in mechanism.questions()
    ]


def expected_answer(
    episode: Trajectory, assignment: Assignment, shape: Shape, kind: str, step: int
) -> int:
    """Return the item by hand: rows of states, then bits, then next states; ⊥ at the end."""
    s, last = shape.states, {"reward": 2, "transition": shape.states, "joint": 2 * shape.states}
    if not episode.states or any(
        episode.actions[h] != assignment.table[h, episode.states[h]] for h in range(step + 1)
    ):
        return s * last[kind]
    state, bit = int(episode.states[step]), int(episode.rewards[step])
    after = int(episode.states[step + 1]) if step + 1 < shape.horizon else 0
    return {
        "reward": state * 2 + bit,
        "transition": state * s + after,
        "joint": state * 2 * s + bit * s + after,
    }[kind]


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("shape", [SHAPES[0], Shape(1, 2, 3), SHAPES[3]], ids=str)
def test_every_user_answers_the_question(shape: Shape, layout: LayoutName) -> None:
    """A user who has nothing to report, or did not follow the policy up to the step, answers ⊥."""
    mechanism = SubsetSelection(shape, CERTAIN, layout=layout, answers=1)
    source = InsecureSource(0)
    silent = 0
    for assignment in every_question(mechanism):
        (question,) = assignment.questions
        for episode in all_trajectories(shape):
            report = mechanism.privatize(episode, assignment, source)
            answer = expected_answer(episode, assignment, shape, question.kind, question.step)
            assert np.flatnonzero(report).tolist() == [answer]
            silent += answer == len(report) - 1
    assert silent > 0


def test_a_deviation_after_the_asked_step_is_no_matter() -> None:
    mechanism = SubsetSelection(Shape(2, 2, 3), CERTAIN, layout="separate", answers=1)
    assignment = Assignment(np.zeros((3, 2), int), 1.0, (Question(Reward(), 1, np.ones(2)),))
    source = InsecureSource(0)
    late = Trajectory([0, 1, 0], [0, 0, 1], [0, 1, 0])
    early = Trajectory([0, 1, 0], [1, 0, 0], [0, 1, 0])
    assert np.flatnonzero(mechanism.privatize(late, assignment, source)) == [3]
    assert np.flatnonzero(mechanism.privatize(early, assignment, source)) == [4]


@pytest.mark.parametrize("layout", LAYOUTS)
def test_no_two_users_are_told_apart_by_more_than_epsilon(layout: LayoutName) -> None:
    """Over all pairs of users, all questions and all reports, in exact numbers."""
    shape, epsilon = Shape(2, 2, 2), 1.25
    mechanism = SubsetSelection(shape, epsilon, layout=layout)
    for assignment in every_question(mechanism):
        (question,) = assignment.questions
        oracle = mechanism.oracle(question.what)
        answers = {
            expected_answer(episode, assignment, shape, question.kind, question.step)
            for episode in all_trajectories(shape)
        }
        worst = max(
            chance_of(oracle, subset, one) / chance_of(oracle, subset, other)
            for subset in subsets(oracle)
            for one, other in product(answers, answers)
        )
        assert math.log(worst) == pytest.approx(epsilon, rel=1e-12)
        assert worst <= oracle.ratio


def test_a_fractional_reward_becomes_a_bit_of_that_mean() -> None:
    """Type-I error 1e-6 (normal limit of 4,000 bits: 5 standard deviations are 0.04)."""
    mechanism = SubsetSelection(Shape(1, 1, 1), CERTAIN, layout="separate")
    assignment = Assignment(np.zeros((1, 1), int), 1.0, (Question(Reward(), 0, np.ones(1)),))
    episode = Trajectory([0], [0], [0.3])
    reports = mechanism.privatize_many(episode, assignment, 4000, InsecureSource(1))
    bits = mechanism.tally(np.array(reports))
    assert bits.sum() == 4000
    assert bits[1] / 4000 == pytest.approx(0.3, abs=0.04)


def statistics_arrays(statistics: Statistics) -> dict[str, Any]:
    names = ("rewards", "visits", "transitions", "reports", "transition_reports", "arrivals")
    return {name: getattr(statistics, name) for name in (*names, "asked")}


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_decoding_is_unbiased_and_touches_the_rows_of_the_policy_alone(
    shape: Shape, layout: LayoutName
) -> None:
    """The mean over all reports of a user, in every item; sums by linearity."""
    mechanism = SubsetSelection(shape, 1.0, layout=layout)
    for assignment in every_question(mechanism, seed=1):
        (question,) = assignment.questions
        kind, step, weights = question.kind, question.step, question.weights
        oracle = mechanism.oracle(question.what)
        model, states = shape.model_of(step), shape.states
        for item in range(oracle.items):
            inclusion = np.full(oracle.items, float(oracle.chance))
            inclusion[item] = float(oracle.keep)
            found = mechanism.decode(inclusion, 1, assignment)
            truth = statistics_arrays(mechanism.no_statistics())
            truth["asked"][step] = 1
            for state in range(states):
                cell = (model, state, assignment.table[step, state])
                if kind != "transition":
                    truth["reports"][cell] = weights[state] ** 2
                if kind != "reward" and step + 1 < shape.horizon:
                    truth["transition_reports"][cell] = weights[state] ** 2
            if item + 1 < oracle.items:
                state = item // ((oracle.items - 1) // states)
                cell = (model, state, assignment.table[step, state])
                truth["arrivals"][step, state] = 1
                bit = item % 2 if kind == "reward" else item // states % 2
                if kind != "transition":
                    truth["visits"][cell] = weights[state]
                    truth["rewards"][cell] = weights[state] * bit
                if kind != "reward" and step + 1 < shape.horizon:
                    truth["transitions"][(*cell, item % states)] = weights[state]
            for name, array in statistics_arrays(found).items():
                np.testing.assert_allclose(array, truth[name], atol=1e-9, err_msg=name)
            assert found.users == 1


def test_untouched_rows_stay_exactly_zero() -> None:
    mechanism = SubsetSelection(Shape(2, 3, 2), 1.0, layout="joint")
    assignment = Assignment(np.array([[0, 1], [2, 2]]), 1.0, (Question(Joint(), 0, np.ones(2)),))
    report = mechanism.privatize(Trajectory([0, 1], [0, 2], [1, 0]), assignment, SystemSource())
    found = mechanism.decode(report, 1, assignment)
    played = np.zeros((1, 2, 3), dtype=bool)
    played[0, 0, 0] = played[0, 1, 1] = True
    for array in (found.rewards, found.visits, found.transitions, found.reports):
        assert np.all(array[~played] == 0)
    assert np.all(found.visits[played] != 0)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_asking_shares_the_users_out(shape: Shape, layout: LayoutName) -> None:
    mechanism = SubsetSelection(shape, 1.0, layout=layout)
    policy = policy_of(shape)
    plan = mechanism.ask((Assignment(policy, 0.25), Assignment(policy, 0.75)))
    assert sum(assignment.share for assignment in plan) == pytest.approx(1)
    asked = [(question.what, question.step) for a in plan for question in a.questions]
    assert asked == 2 * mechanism.questions()
    by_kind = {what: 0.0 for what, _ in asked}
    for assignment, (what, _) in zip(plan, asked, strict=True):
        by_kind[what] += assignment.share
    assert list(by_kind.values()) == pytest.approx([1 / len(by_kind)] * len(by_kind))
    assert mechanism.ask(plan) == plan


@pytest.mark.parametrize("shape", [SHAPES[0], SHAPES[1]], ids=str)
@pytest.mark.parametrize("epsilon", [0.7, 1.25, 3.0])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_the_profile_is_the_worst_question(
    shape: Shape, epsilon: float, layout: LayoutName
) -> None:
    """δ(x) = max over questions of Σ_Z (P(Z|v) − e^x P(Z|v'))⁺; any two items are alike."""
    mechanism = SubsetSelection(shape, epsilon, layout=layout)
    profile = mechanism.privacy_profile()
    oracles = {mechanism.oracle(what) for what, _ in mechanism.questions()}
    for x in (0.0, 0.3 * epsilon, 0.9 * epsilon):
        worst = 0.0
        for oracle in oracles:
            both = math.comb(oracle.items - 2, oracle.size - 1)
            with_own = oracle.keep / math.comb(oracle.items - 1, oracle.size - 1)
            without = (1 - oracle.keep) / math.comb(oracle.items - 1, oracle.size)
            worst = max(worst, both * (float(with_own) - math.exp(x) * float(without)))
        assert profile.delta(x) == pytest.approx(worst, rel=1e-3)
        assert profile.delta(x) >= worst * (1 - 1e-12)
    assert profile.delta(epsilon) == 0
    assert profile.pure == pytest.approx(epsilon, rel=1e-9)


def test_the_layout_is_chosen_by_variance() -> None:
    """One joint answer at large ε, where noise is small anyway; separate ones at small ε."""
    for shape in SHAPES[:3]:
        assert SubsetSelection(shape, 20.0).layout == "joint"
        assert SubsetSelection(shape, 0.1).layout == "separate"
    assert SubsetSelection(SHAPES[0], 0.1, layout="joint").layout == "joint"


def test_what_it_does_not_have_is_refused() -> None:
    shape = Shape(2, 2, 2)
    with pytest.raises(InputError, match="not in the paper"):
        build_mechanism("subset-selection", shape, 1.0, constants="paper")
    with pytest.raises(InputError, match="squared rewards"):
        build("ldp-psrl", "subset-selection", shape, episodes=10, epsilon=1.0)
    with pytest.raises(InputError, match="layout"):
        SubsetSelection(shape, 1.0, layout="both")  # type: ignore[arg-type]
    for epsilon in (0.0, -1.0, math.nan, math.inf, 1e-13, None):
        with pytest.raises(InputError, match="epsilon"):
            SubsetSelection(shape, epsilon)  # type: ignore[arg-type]
    mechanism = SubsetSelection(shape, 1.0)
    unasked = Assignment(np.zeros((2, 2), int))
    with pytest.raises(InputError, match="ask"):
        mechanism.privatize(Trajectory.empty(), unasked, SystemSource())
    for assignment in mechanism.ask((unasked,)):
        with pytest.raises(InputError, match="trajectory"):
            mechanism.privatize(Trajectory([0], [0], [1]), assignment, SystemSource())
        with pytest.raises(InputError, match="trajectory"):
            mechanism.privatize_many(Trajectory([0], [0], [1]), assignment, 2, SystemSource())


@pytest.mark.parametrize("epsilon", [1e-4, 700.0, 1e6])
def test_the_ends_of_the_range_work(epsilon: float) -> None:
    mechanism = SubsetSelection(Shape(3, 2, 2), epsilon)
    for oracle in {mechanism.oracle(what) for what, _ in mechanism.questions()}:
        assert oracle.contrast > 0
        assert 0 < oracle.epsilon <= epsilon * (1 + 1e-3)
    for law in (mechanism.row_laws.rewards, mechanism.row_laws.transitions):
        assert np.isfinite(law.numbers()).all()
