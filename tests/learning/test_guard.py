"""The guard does what the theorem assumes, and doubts bound what users lose."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pytest

from ldprl.learning.guard import LEAST_WEIGHT, TOLERATED, WATCHED
from ldprl.learning.ldp_evi import LDPEVI, Plausible
from ldprl.mechanisms.none import NoPrivacy
from ldprl.mechanisms.subset_selection import SubsetSelection
from ldprl.shape import FloatArray, Shape
from ldprl.simulation.interpreted import batch
from ldprl.simulation.regret import RegretRecorder, checkpoints
from ldprl.worlds.evaluation import occupancy, optimum, policy_values
from ldprl.worlds.families import random_mdp, riverswim
from ldprl.worlds.tabular import TabularMDP
from tests.learning.cases import sums_like
from tests.learning.guarding import Box, box_values, doubt, guarded, start_box, weight


class Unguarded(LDPEVI):
    """LDP-EVI without its guard."""

    _guarded = False


def test_the_guarded_plan_is_the_plain_one() -> None:
    """Policies, shares, questions and weights, from sums of all sizes; some are replaced."""
    replaced = 0
    shapes = (Shape(3, 2, 4), Shape(2, 3, 3, step_dependent=True))
    for shape, seed, scale in itertools.product(shapes, range(6), (1.0, 1e4, 1e6)):
        mechanism = SubsetSelection(shape, 4.0)
        learner, free = LDPEVI(mechanism), Unguarded(mechanism)
        sums = replace(sums_like(mechanism, seed, scale), users=10**6)
        before = free.plan(sums, np.random.default_rng(seed))
        expected = guarded(learner, sums, before)
        found = learner.plan(sums, np.random.default_rng(seed))
        assert len(found) == len(expected)
        for one, other in zip(found, expected, strict=True):
            assert one.share == pytest.approx(other.share)
            np.testing.assert_array_equal(one.table, other.table)
            (asked,), (wanted,) = one.questions, other.questions
            assert (asked.what, asked.step) == (wanted.what, wanted.step)
            np.testing.assert_allclose(asked.weights, wanted.weights)
        replaced += any(
            not np.array_equal(one.table, other.table)
            for one, other in zip(before, found, strict=False)
        )
    assert replaced > 0


def some_box(mdp: TabularMDP, rng: np.random.Generator) -> tuple[Plausible, Box]:
    """Return intervals of random widths that hold the world and its start law."""

    def around(truth: FloatArray) -> Box:
        width = rng.uniform(0, 0.6) * rng.random((2, *truth.shape))
        return np.clip(truth - width[0], 0, 1), np.clip(truth + width[1], 0, 1)

    rewards = mdp.rewards.reshape(-1, *mdp.rewards.shape[-2:])
    moves = mdp.transitions.reshape(-1, *mdp.transitions.shape[-3:])
    model = Plausible(*around(rewards), *around(moves), rewards, moves)
    return model, around(mdp.initial)


def doubt_over_widths(seed: int) -> float:
    """Check that doubts bound losses in a random box; return D over its bound by widths."""
    rng = np.random.default_rng(seed)
    mdp = TabularMDP(
        rng.dirichlet([0.5, 0.5], size=(2, 2)), rng.random((2, 2)), 2, rng.dirichlet([1.0, 1.0])
    )
    model, start = some_box(mdp, rng)
    moves = model.move_low, model.move_high
    hoped, optimistic = box_values(model.reward_high, moves, 2, None, best=True)
    best = float(mdp.initial @ optimum(mdp).values[0])
    for table in itertools.product(range(2), repeat=4):
        policy = np.array(table).reshape(2, 2)
        lost = best - float(mdp.initial @ policy_values(mdp, policy)[0])
        assert lost <= doubt(model, start, policy, hoped) + 1e-9
    reward_width = (model.reward_high - model.reward_low)[0]
    move_width = np.minimum((model.move_high - model.move_low)[0].sum(axis=-1) / 2, 1)
    visited = occupancy(mdp, optimistic)
    widths = sum(
        float((visited[h] * (reward_width + 2 * (1 - h) * move_width)).sum()) for h in range(2)
    )
    widths += 2 * min(1.0, float((start[1] - start[0]).sum()) / 2)
    return doubt(model, start, optimistic, hoped) / widths


def test_the_doubt_lies_between_what_is_lost_and_the_widths() -> None:
    """Lemma 7: losses ≤ doubt, and D ≤ E Σ[W^r + 2(H−h)W^p] + H·W⁰; not four fifths of that."""
    ratios = [doubt_over_widths(seed) for seed in range(200)]
    assert 0.8 < max(ratios) <= 1 + 1e-9


def test_half_the_doubt_does_not_bound_what_is_lost() -> None:
    """The mutant of the first half: the worst world and the best policy lie that far apart."""
    mdp = TabularMDP(np.ones((1, 2, 1)), np.array([[0.9, 0.3]]), 1)
    low, high = np.array([[[0.9, 0.3]]]), np.array([[[0.9, 0.9]]])
    sure, start = np.ones((1, 1, 2, 1)), (np.ones(1), np.ones(1))
    model, policy = Plausible(low, high, sure, sure, low, sure), np.array([[1]])
    found = doubt(model, start, policy, np.array([0.9]))
    lost = 0.9 - float(mdp.initial @ policy_values(mdp, policy)[0])
    assert found / 2 < lost <= found + 1e-12


@pytest.mark.parametrize("mdp", [random_mdp(2, 2, 2, 1006), riverswim(3, 4)])
def test_plans_meet_the_theorems_assumptions(mdp: TabularMDP) -> None:
    """Shares, weights and policies, plan by plan; δ = 10⁻⁷, so that failures do not happen."""
    mechanism = SubsetSelection(mdp.shape, 2.0)
    learner = LDPEVI(mechanism, failure_probability=1e-7)
    rng, recorder = np.random.default_rng(1000), RegretRecorder(mdp, checkpoints(10**6))
    sums, users = mechanism.no_statistics(), 1
    best = float(mdp.initial @ optimum(mdp).values[0])
    promised = lost = 0.0
    while sums.users < 20_000:
        model, start = learner.plausible(sums), start_box(learner, sums)
        assert (start[0] - 1e-12 <= mdp.initial).all()
        assert (mdp.initial <= start[1] + 1e-12).all()
        optimistic, _ = learner.policies(sums)
        moves = model.move_low, model.move_high
        hoped, _ = box_values(model.reward_high, moves, mdp.horizon, None, best=True)
        doubted = doubt(model, start, optimistic, hoped)
        most = weight(doubted, mdp.horizon)
        watched = dict.fromkeys([(type(what), h) for what, h in mechanism.questions()], 0.0)
        plan = learner.plan(sums, np.random.default_rng(7))
        for one in plan:
            (asked,) = one.questions
            assert (asked.weights <= most * (1 + 1e-9)).all()
            short = best - float(mdp.initial @ policy_values(mdp, one.table)[0])
            assert short <= TOLERATED * doubted + 1e-6
            lost += one.share * short * users
            same = np.array_equal(one.table[: asked.step + 1], optimistic[: asked.step + 1])
            if same and (asked.weights >= LEAST_WEIGHT * most * (1 - 1e-9)).all():
                watched[type(asked.what), asked.step] += one.share
        assert min(watched.values()) >= WATCHED / len(mechanism.questions()) - 1e-12
        assert sum(one.share for one in plan) == pytest.approx(1)
        promised += TOLERATED * doubted * users
        sums += batch(mdp, learner, mechanism, sums, users, rng, recorder)
        users = sums.users // 5 + 1
    assert 0 < lost <= promised


def test_without_questions_there_is_no_guard() -> None:
    mechanism = NoPrivacy(random_mdp(2, 2, 2, 1).shape)
    statistics, rng = mechanism.no_statistics(), np.random.default_rng(0)
    (one,) = LDPEVI(mechanism).plan(statistics, rng)
    (other,) = Unguarded(mechanism).plan(statistics, rng)
    assert np.array_equal(one.table, other.table)
