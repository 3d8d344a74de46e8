"""LDP-EVI and LDP-TS: what they hand out, and the set that LDP-EVI plans with."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from ldprl import (
    LDPEVI,
    LDPOBI,
    LDPTS,
    InputError,
    Mechanism,
    Shape,
    SubsetSelection,
    random_mdp,
    simulate,
)
from ldprl.assignment import Plan
from ldprl.learning.extended import extended_plan
from ldprl.learning.learner import Learner
from ldprl.learning.questions import candidates, expected_shares, with_questions
from ldprl.mechanisms.subset_selection import LAYOUTS, LayoutName
from ldprl.shape import Policy
from ldprl.simulation.interpreted import batch
from ldprl.simulation.regret import RegretRecorder, checkpoints
from ldprl.statistics import Statistics
from tests.learning.cases import NAMES, SHAPES, mechanism, noisy_sums

KINDS: list[type[LDPEVI] | type[LDPTS]] = [LDPEVI, LDPTS]


def sums_of(chosen: Mechanism, seed: int, scale: float) -> Statistics:
    """Return noisy sums, with the blocks that this mechanism fills."""
    sums, empty = noisy_sums(chosen.shape, seed, scale), chosen.no_statistics()
    rng = np.random.default_rng(seed)
    return replace(
        sums,
        squares=None if empty.squares is None else sums.squares,
        arrivals=None if empty.arrivals is None else rng.normal(50, 80, empty.arrivals.shape),
        asked=None if empty.asked is None else rng.uniform(0, 1e3, empty.asked.shape),
        transition_reports=(
            None
            if empty.transition_reports is None
            else rng.uniform(0, 5e3, empty.transition_reports.shape)
        ),
    )


def assert_can_be_handed_out(plan: Plan, chosen: Mechanism) -> None:
    shape = chosen.shape
    assert sum(assignment.share for assignment in plan) == pytest.approx(1, abs=1e-9)
    asked = chosen.questions()
    for assignment in plan:
        assert assignment.share >= 0
        assert assignment.policy.shape == (shape.horizon, shape.states)
        assert assignment.policy.dtype == np.int64
        assert ((assignment.policy >= 0) & (assignment.policy < shape.actions)).all()
        assert len(assignment.questions) == (chosen.answers if asked else 0)
        for question in assignment.questions:
            assert (question.what, question.step) in asked
            assert question.weights.shape == (shape.states,)
            assert ((question.weights > 0) & (question.weights <= 1)).all()


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("kind", KINDS)
def test_every_plan_can_be_handed_out(
    kind: type[LDPEVI] | type[LDPTS], name: str, shape: Shape
) -> None:
    """Without any report, and whatever the sums; the same sums, the same plan."""
    chosen = mechanism(name, shape)
    learner: Learner = kind(chosen)
    plans = []
    for sums in (chosen.no_statistics(), *(sums_of(chosen, 1, scale) for scale in (1.0, 1e4))):
        plan, again = (learner.plan(sums, np.random.default_rng(5)) for _ in range(2))
        assert_can_be_handed_out(plan, chosen)
        assert len(plan) == len(again)
        for one, other in zip(plan, again, strict=True):
            np.testing.assert_array_equal(one.policy, other.policy)
        plans.append(plan)
    assert plans[0]


@pytest.mark.parametrize("kind", KINDS)
def test_hostile_sums_are_survived(kind: type[LDPEVI] | type[LDPTS]) -> None:
    for name in NAMES:
        chosen = mechanism(name, Shape(3, 2, 4))
        for scale in (1e-9, 1e9, 1e15):
            plan = kind(chosen).plan(sums_of(chosen, 2, scale), np.random.default_rng(0))
            assert_can_be_handed_out(plan, chosen)


def after_some_users(chosen: Mechanism, learner: Learner, users: int) -> Statistics:
    mdp = random_mdp(2, 2, 2, seed=1003)
    rng, recorder = np.random.default_rng(0), RegretRecorder(mdp, checkpoints(10**9))
    sums = chosen.no_statistics()
    for _ in range(4):
        sums += batch(mdp, learner, chosen, sums, users // 4, rng, recorder)
    return sums


def test_users_play_greedily_after_the_step_they_are_asked_about() -> None:
    chosen = SubsetSelection(Shape(2, 2, 2), 2.0)
    learner = LDPEVI(chosen)
    sums = after_some_users(chosen, learner, 4000)
    model = learner.plausible(sums)
    optimistic, greedy, _ = extended_plan(
        2, model.reward_high, model.move_low, model.move_high, model.rewards, model.moves, False
    )

    def told(policy: Policy, step: int) -> bytes:
        return np.concatenate([policy[: step + 1], greedy[step + 1 :]]).tobytes()

    for assignment in learner.plan(sums, np.random.default_rng(0)):
        (question,) = assignment.questions
        step = question.step
        assert assignment.policy.tobytes() in (told(optimistic, step), told(greedy, step))


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("answers", [2, 3])
@pytest.mark.parametrize("kind", KINDS)
def test_plans_with_several_questions_can_be_handed_out(
    kind: type[LDPEVI] | type[LDPTS], answers: int, layout: LayoutName
) -> None:
    for shape in (Shape(3, 2, 4), Shape(2, 3, 3, step_dependent=True)):
        chosen = SubsetSelection(shape, 8.0, layout=layout, answers=answers)
        for sums in (chosen.no_statistics(), *(sums_of(chosen, 1, scale) for scale in (1.0, 1e4))):
            assert_can_be_handed_out(kind(chosen).plan(sums, np.random.default_rng(5)), chosen)


def test_further_questions_are_those_worth_most_at_other_steps() -> None:
    """Their worth and weights are those of the policy that the user is told to play."""
    chosen = SubsetSelection(Shape(3, 2, 4), 8.0, layout="separate", answers=3)
    one = SubsetSelection(chosen.shape, 8.0, layout="separate", answers=1)
    sums = sums_of(chosen, 1, 1e4)
    rng = np.random.default_rng(0)
    policy, greedy = rng.integers(0, 2, (2, 4, 3))
    moves, needs = rng.dirichlet(np.ones(3), (1, 3, 2)), rng.random((2, 1, 3, 2))
    shares = expected_shares(sums, policy, moves)
    given = (sums, needs, policy, greedy, shares, moves, 1.0)
    plan = with_questions(chosen, *given, np.random.default_rng(1))
    leading = with_questions(one, *given, np.random.default_rng(1))
    for several, single in zip(plan, leading, strict=True):
        np.testing.assert_array_equal(several.policy, single.policy)
        assert several.share == single.share
        first, *further = several.questions
        assert (first.kind, first.step) == (single.questions[0].kind, single.questions[0].step)
        told = several.policy
        spread = expected_shares(sums, told, moves)
        found = candidates(chosen, sums, needs, told, told, told, spread)
        worth = {(it.what, it.step): it.worth for it in found}
        left = {step: 0.0 for step in range(4) if step != first.step}
        for (_, step), value in worth.items():
            if step in left:
                left[step] = max(left[step], value)
        best = sorted(left.values(), reverse=True)[:2]
        assert [worth[it.what, it.step] for it in further] == best


@pytest.mark.parametrize("name", NAMES)
def test_the_set_holds_its_point_model(name: str) -> None:
    chosen = mechanism(name, Shape(3, 2, 4))
    model = LDPEVI(chosen).plausible(sums_of(chosen, 3, 1e5))
    assert (model.reward_low >= 0).all()
    assert (model.reward_high <= 1).all()
    assert (model.reward_low <= model.rewards).all()
    assert (model.rewards <= model.reward_high).all()
    assert (model.move_low <= model.move_high).all()
    assert model.moves.min() >= 0
    np.testing.assert_allclose(model.moves.sum(axis=-1), 1)


@pytest.mark.parametrize(
    ("shape", "sides"),
    [(Shape(2, 3, 2), 6 * 6), (Shape(5, 2, 3), 10 * 14), (Shape(3, 2, 4, True), 24 * 10)],
    ids=str,
)
def test_the_union_is_over_all_sides(shape: Shape, sides: int) -> None:
    """Rewards have two and transitions 2S, or 2 if S = 2; both kinds of visits have one."""
    learner = LDPEVI(SubsetSelection(shape, 1.0), failure_probability=0.05)
    assert learner.log_threshold == pytest.approx(math.log(sides / 0.05))


def test_a_smaller_failure_probability_makes_a_larger_set() -> None:
    chosen = SubsetSelection(Shape(2, 2, 2), 2.0)
    sums = after_some_users(chosen, LDPEVI(chosen), 40_000)
    widths = []
    for failure in (0.5, 0.01, 1e-6):
        model = LDPEVI(chosen, failure_probability=failure).plausible(sums)
        widths.append((model.reward_high - model.reward_low).sum())
    assert widths == sorted(widths)
    assert widths[0] < widths[-1]


def test_parameters_that_make_no_sense_are_refused() -> None:
    chosen = SubsetSelection(Shape(2, 2, 2), 2.0)
    for failure in (0.0, 1.0, -1.0, math.nan):
        with pytest.raises(InputError, match="failure_probability"):
            LDPEVI(chosen, failure_probability=failure)
    with pytest.raises(InputError, match="draws"):
        LDPTS(chosen, draws=0)


def test_regret_is_a_tenth_of_that_of_ldp_obi() -> None:
    """In the sum over three MDPs whose policies differ, K = 3·10⁵ and ε = 4."""
    mine = theirs = 0.0
    for seed in (1001, 1003, 1004):
        mdp = random_mdp(2, 2, 2, seed=seed)
        chosen = SubsetSelection(mdp.shape, 4.0)
        given = (chosen, 300_000, 1, 0, "growth:0.1")
        mine += simulate(mdp, LDPEVI(chosen), *given).regret[0]
        theirs += simulate(mdp, LDPOBI(chosen), *given).regret[0]
    assert mine < theirs / 10
