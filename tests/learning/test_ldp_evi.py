"""LDP-EVI and LDP-TS: what they hand out, and the set that LDP-EVI plans with."""

from __future__ import annotations

import itertools
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
    riverswim,
    simulate,
)
from ldprl.assignment import Plan
from ldprl.learning.learner import Learner
from ldprl.learning.planners.calling import make_plan
from ldprl.learning.planning import plan
from ldprl.mechanisms.subset_selection import LAYOUTS, LayoutName
from ldprl.shape import Policy
from ldprl.simulation.interpreted import batch
from ldprl.simulation.regret import RegretRecorder, checkpoints
from ldprl.statistics import Statistics
from tests.learning.cases import NAMES, SHAPES, mechanism, sums_like
from tests.learning.exploring import evi_plan, serve


class Unguarded(LDPEVI):
    """LDP-EVI as its heuristics plan; the guard has tests of its own."""

    _guarded = False


KINDS: list[type[LDPEVI] | type[LDPTS]] = [LDPEVI, LDPTS]


def assert_can_be_handed_out(handed: Plan, chosen: Mechanism) -> None:
    shape = chosen.shape
    assert sum(assignment.share for assignment in handed) == pytest.approx(1, abs=1e-9)
    asked = chosen.questions()
    for assignment in handed:
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
    for sums in (chosen.no_statistics(), *(sums_like(chosen, 1, scale) for scale in (1.0, 1e4))):
        first, again = (learner.plan(sums, np.random.default_rng(5)) for _ in range(2))
        assert_can_be_handed_out(first, chosen)
        assert len(first) == len(again)
        for one, other in zip(first, again, strict=True):
            np.testing.assert_array_equal(one.policy, other.policy)
        plans.append(first)
    assert plans[0]


@pytest.mark.parametrize("kind", KINDS)
def test_hostile_sums_are_survived(kind: type[LDPEVI] | type[LDPTS]) -> None:
    for name in NAMES:
        chosen = mechanism(name, Shape(3, 2, 4))
        for scale in (1e-9, 1e9, 1e15):
            found = kind(chosen).plan(sums_like(chosen, 2, scale), np.random.default_rng(0))
            assert_can_be_handed_out(found, chosen)


def after_some_users(chosen: Mechanism, learner: Learner, users: int) -> Statistics:
    mdp = random_mdp(2, 2, 2, seed=1003)
    rng, recorder = np.random.default_rng(0), RegretRecorder(mdp, checkpoints(10**9))
    sums = chosen.no_statistics()
    for _ in range(4):
        sums += batch(mdp, learner, chosen, sums, users // 4, rng, recorder)
    return sums


def test_users_play_greedily_after_the_step_they_are_asked_about() -> None:
    chosen = SubsetSelection(Shape(2, 2, 2), 2.0)
    learner = Unguarded(chosen)
    sums = after_some_users(chosen, learner, 4000)
    optimistic, greedy = learner.policies(sums)

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
        for sums in (
            chosen.no_statistics(),
            *(sums_like(chosen, 1, scale) for scale in (1.0, 1e4)),
        ):
            assert_can_be_handed_out(kind(chosen).plan(sums, np.random.default_rng(5)), chosen)


Key = tuple[bytes, tuple[tuple[str, int, bytes], ...]]


def by_assignment(handed: Plan) -> dict[Key, float]:
    """Return the share of each policy with its questions, weights rounded."""
    found: dict[Key, float] = {}
    for one in handed:
        asked = tuple((q.kind, q.step, q.weights.round(9).tobytes()) for q in one.questions)
        key = one.policy.tobytes(), asked
        found[key] = found.get(key, 0.0) + one.share
    return found


def assert_equal_but_for_curiosity(found: Plan, expected: Plan, groups: int) -> None:
    """Shares are those expected, and in each group of users a tenth is asked at random."""
    mine, theirs = by_assignment(found), by_assignment(expected)
    assert set(theirs) <= set(mine)
    surplus = {key: share - theirs.get(key, 0.0) for key, share in mine.items()}
    curious = [extra for extra in surplus.values() if abs(extra) > 1e-9]
    assert all(extra > 0 for extra in curious)
    assert len(curious) <= groups
    assert sum(curious) == pytest.approx(0.1)


@pytest.mark.parametrize("answers", [1, 3])
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("shape", [Shape(3, 2, 4), Shape(2, 3, 3, step_dependent=True)], ids=str)
def test_plans_of_ldp_evi_equal_the_plain_ones(
    shape: Shape, layout: LayoutName, answers: int
) -> None:
    chosen = SubsetSelection(shape, 8.0, layout=layout, answers=answers)
    learner = Unguarded(chosen)
    thrifty = 0
    for seed, scale in itertools.product(range(4), (1.0, 1e4, 1e5)):
        sums = replace(sums_like(chosen, seed, scale), users=10**6)
        expected = evi_plan(learner, sums, learner.plausible(sums))
        thrifty += len(expected) > 4
        found = learner.plan(sums, np.random.default_rng(seed))
        assert_equal_but_for_curiosity(found, expected, 2)
    assert thrifty > 0


@pytest.mark.parametrize("answers", [1, 3])
def test_plans_of_ldp_ts_serve_the_drawn_policies(answers: int) -> None:
    """What the users of each drawn policy are asked equals the plain choice."""
    shape = Shape(3, 2, 4)
    chosen = SubsetSelection(shape, 8.0, layout="separate", answers=answers)
    learner = LDPTS(chosen, draws=1)
    explored = 0
    for seed, scale in itertools.product(range(4), (1e3, 1e5)):
        sums = replace(sums_like(chosen, seed, scale), users=10**6)
        belief = learner.belief(sums)
        greedy = plan(shape, belief.rewards, belief.moves)
        planner = learner.planner(sums, np.random.default_rng(0))
        draft = learner.room(sums)
        found = make_plan(planner, sums, draft, np.random.default_rng(seed), chosen.questions())
        drawn = planner.drawn[0].reshape(greedy.shape)
        expected: Plan = ()
        if not np.array_equal(drawn, greedy):
            expected = serve(chosen, sums, belief, drawn, greedy, 1.0, limited=True)
            explored += 1
        left = 1 - sum(one.share for one in expected) / 0.9
        expected += serve(chosen, sums, belief, greedy, greedy, left, limited=False)
        assert_equal_but_for_curiosity(found, expected, 2)
    assert explored > 0


def test_explorers_take_the_cheaper_way() -> None:
    """In RiverSwim the optimistic policy swims up against the current and loses all the way.

    Where few explore, those who follow the greedy policy and deviate at the asked step alone lose a
    small part of that. (With that many users, few explore.)
    """
    mdp = riverswim(6, 20)
    chosen = SubsetSelection(mdp.shape, 4.0)
    found = simulate(mdp, Unguarded(chosen), chosen, 10**5, seed=5, replan="growth:0.1")
    sums = replace(found.statistics[0], users=10**12)
    optimistic, greedy = LDPEVI(chosen).policies(sums)
    recorder = RegretRecorder(mdp, checkpoints(10))
    assert not np.array_equal(optimistic, greedy)
    losses = []
    for thrifty in (True, False):
        kind = type("Way", (LDPEVI,), {"_thrifty": thrifty, "_guarded": False})
        handed = kind(chosen).plan(sums, np.random.default_rng(1))
        away = [one for one in handed if not np.array_equal(one.policy, greedy)]
        lost = sum(one.share * recorder.loss(one.policy) for one in away)
        losses.append(lost / sum(one.share for one in away))
    assert losses[0] < losses[1] / 10


@pytest.mark.parametrize("name", NAMES)
def test_the_set_holds_its_point_model(name: str) -> None:
    chosen = mechanism(name, Shape(3, 2, 4))
    model = LDPEVI(chosen).plausible(sums_like(chosen, 3, 1e5))
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
