"""LDP-EVI: what it hands out, and the set that it plans with."""

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
from ldprl.learning.learner import Learner
from ldprl.mechanisms.subset_selection import LAYOUTS, LayoutName
from ldprl.shape import Policy
from ldprl.simulation.interpreted import batch
from ldprl.simulation.regret import RegretRecorder, checkpoints
from ldprl.statistics import Statistics
from tests.learning.cases import NAMES, mechanism, sums_like
from tests.learning.exploring import evi_plan
from tests.learning.plans import assert_equal_but_for_curiosity


class Unguarded(LDPEVI):
    """LDP-EVI as its heuristics plan; the guard has tests of its own."""

    _guarded = False


def after_some_users(chosen: Mechanism, learner: Learner, users: int) -> Statistics:
    mdp = random_mdp(2, 2, 2, seed=1003)
    rng, recorder = np.random.default_rng(0), RegretRecorder(mdp, checkpoints(10**9))
    sums: Statistics = chosen.no_statistics()
    for _ in range(4):
        sums += batch(mdp, learner, chosen, sums, users // 4, rng, recorder)
    return sums


def test_users_play_greedily_after_the_step_they_are_asked_about() -> None:
    chosen = SubsetSelection(Shape(2, 2, 2), 2.0)
    learner = Unguarded(chosen)
    sums = after_some_users(chosen, learner, 4000)
    optimistic, greedy = learner.policies(sums)

    def table_bytes(policy: Policy, step: int) -> bytes:
        return np.concatenate([policy[: step + 1], greedy[step + 1 :]]).tobytes()

    for assignment in learner.plan(sums, np.random.default_rng(0)):
        (question,) = assignment.questions
        step = question.step
        assert assignment.table.tobytes() in (
            table_bytes(optimistic, step),
            table_bytes(greedy, step),
        )


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


def test_explorers_take_the_cheaper_way() -> None:
    """In RiverSwim the optimistic policy swims up against the current and loses all the way.

    Where few explore, those who follow the greedy policy and deviate at the asked step alone lose a
    small part of that. (With that many users, few explore.)
    """
    mdp = riverswim(6, 20)
    chosen = SubsetSelection(mdp.shape, 4.0)
    found = simulate(mdp, Unguarded(chosen), chosen, 10**5, seed=3, replan="growth:0.1")
    sums = replace(found.statistics[0], users=10**12)
    optimistic, greedy = LDPEVI(chosen).policies(sums)
    recorder = RegretRecorder(mdp, checkpoints(10))
    assert not np.array_equal(optimistic, greedy)
    losses = []
    for thrifty in (True, False):
        kind = type("Way", (LDPEVI,), {"_thrifty": thrifty, "_guarded": False})
        handed = kind(chosen).plan(sums, np.random.default_rng(1))
        away = [one for one in handed if not np.array_equal(one.table, greedy)]
        lost = sum(one.share * recorder.loss(one.table) for one in away)
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
