"""The guard does what the theorem assumes, and its doubt bounds what users lose."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from ldprl.assignment import Plan
from ldprl.learning.guarded import LEAST_WEIGHT, TOLERATED, WATCHED, LDPEVIGuarded
from ldprl.learning.ldp_evi import LDPEVI, Plausible
from ldprl.mdp.evaluation import occupancy, optimum, policy_values
from ldprl.mdp.families import random_mdp, riverswim
from ldprl.mdp.tabular import TabularMDP
from ldprl.mechanisms.subset_selection import SubsetSelection
from ldprl.shape import FloatArray
from ldprl.simulation.engine import simulate
from ldprl.statistics import Statistics

Box = tuple[FloatArray, FloatArray]


def some_box(mdp: TabularMDP, rng: np.random.Generator) -> tuple[Plausible, Box]:
    """Return intervals of random widths that hold the world and its start law."""

    def around(truth: FloatArray) -> Box:
        width = rng.uniform(0, 0.6) * rng.random((2, *truth.shape))
        return np.clip(truth - width[0], 0, 1), np.clip(truth + width[1], 0, 1)

    rewards = mdp.rewards.reshape(-1, *mdp.rewards.shape[-2:])
    moves = mdp.transitions.reshape(-1, *mdp.transitions.shape[-3:])
    model = Plausible(*around(rewards), *around(moves), rewards, moves)
    return model, around(mdp.initial)


@pytest.mark.parametrize("seed", range(25))
def test_the_doubt_lies_between_what_is_lost_and_the_widths(seed: int) -> None:
    """V⋆ − V^π ≤ hoped − known(π) for all π, and D ≤ E Σ[W^r + 2(H−h)W^p] + 2H·W⁰."""
    rng = np.random.default_rng(seed)
    mdp = TabularMDP(
        rng.dirichlet([0.5, 0.5], size=(2, 2)), rng.random((2, 2)), 2, rng.dirichlet([1.0, 1.0])
    )
    learner = LDPEVIGuarded(SubsetSelection(mdp.shape, 1.0))
    model, start = some_box(mdp, rng)
    hoped, optimistic = learner.value(model, start, None, best=True)
    best = float(mdp.initial @ optimum(mdp).values[0])
    assert hoped >= best - 1e-9
    for table in itertools.product(range(2), repeat=4):
        policy = np.array(table).reshape(2, 2)
        known = learner.value(model, start, policy, best=False)[0]
        assert known <= float(mdp.initial @ policy_values(mdp, policy)[0]) + 1e-9
    doubt = hoped - learner.value(model, start, optimistic, best=False)[0]
    reward_width = (model.reward_high - model.reward_low)[0]
    move_width = np.minimum((model.move_high - model.move_low)[0].sum(axis=-1) / 2, 1)
    visited = occupancy(mdp, optimistic)
    widths = sum(
        float((visited[h] * (reward_width + 2 * (1 - h) * move_width)).sum()) for h in range(2)
    )
    widths += 2 * 2 * min(1.0, float((start[1] - start[0]).sum()) / 2)
    assert doubt <= widths + 1e-9
    # The safe policy has a known value at least as large as the optimistic one.
    safe = learner.value(model, start, None, best=False)[0]
    assert hoped - safe <= doubt + 1e-9


def test_a_tenth_of_the_widths_is_not_enough() -> None:
    """The mutant of the last inequality: with one width alone, D is that width."""
    mdp = TabularMDP(np.ones((1, 1, 1)), np.array([[0.5]]), 1)
    learner = LDPEVIGuarded(SubsetSelection(mdp.shape, 1.0))
    sure = np.ones((1, 1, 1, 1))
    low, high = np.full((1, 1, 1), 0.3), np.full((1, 1, 1), 0.9)
    model, start = Plausible(low, high, sure, sure, low, sure), (np.ones(1), np.ones(1))
    hoped = learner.value(model, start, None, best=True)[0]
    known = learner.value(model, start, np.zeros((1, 1), dtype=np.int64), best=False)[0]
    assert hoped - known == pytest.approx(0.6)


class Recorded(LDPEVIGuarded):
    """Keeps every plan with the statistics that it was made from."""

    def __init__(self, mechanism: SubsetSelection, failure: float) -> None:
        super().__init__(mechanism, failure_probability=failure)
        self.seen: list[tuple[Statistics, Plan]] = []

    def plan(self, statistics: Statistics, rng: np.random.Generator) -> Plan:
        plan = super().plan(statistics, rng)
        self.seen.append((statistics, plan))
        return plan


@pytest.mark.parametrize("mdp", [random_mdp(2, 2, 2, 1006), riverswim(3, 4)])
def test_plans_meet_the_theorems_assumptions(mdp: TabularMDP) -> None:
    """Shares, weights and policies, plan by plan; δ = 10⁻⁷, so that failures do not happen."""
    mechanism = SubsetSelection(mdp.shape, 2.0)
    learner = Recorded(mechanism, 1e-7)
    simulation = simulate(mdp, learner, mechanism, 20_000, 1, 1000, "growth:0.2")
    horizon, best = mdp.horizon, float(mdp.initial @ optimum(mdp).values[0])
    promised, before = 0.0, 0
    for i, (statistics, plan) in enumerate(learner.seen):
        model, start = learner.plausible(statistics), learner.start_box(statistics)
        assert (start[0] - 1e-12 <= mdp.initial).all()
        assert (mdp.initial <= start[1] + 1e-12).all()
        hoped, optimistic = learner.value(model, start, None, best=True)
        doubt = hoped - learner.value(model, start, optimistic, best=False)[0]
        weight = min(1.0, doubt / horizon)
        watched = dict.fromkeys([(type(what), h) for what, h in mechanism.questions()], 0.0)
        for one in plan:
            (asked,) = one.questions
            assert (asked.weights <= weight + 1e-12).all()
            lost = best - float(mdp.initial @ policy_values(mdp, one.policy)[0])
            assert lost <= TOLERATED * doubt + 1e-6
            same = np.array_equal(one.policy[: asked.step + 1], optimistic[: asked.step + 1])
            if same and (asked.weights >= LEAST_WEIGHT * weight - 1e-12).all():
                watched[type(asked.what), asked.step] += one.share
        assert min(watched.values()) >= WATCHED / (2 * horizon) - 1e-12
        assert sum(one.share for one in plan) == pytest.approx(1)
        after = learner.seen[i + 1][0].users if i + 1 < len(learner.seen) else 20_000
        promised += TOLERATED * doubt * (after - before)
        before = after
    assert float(simulation.regret[0]) <= promised


def test_without_questions_the_guard_leaves_the_plan_alone() -> None:
    from ldprl.mechanisms.none import NoPrivacy

    mechanism = NoPrivacy(random_mdp(2, 2, 2, 1).shape)
    statistics, rng = mechanism.no_statistics(), np.random.default_rng(0)
    (one,) = LDPEVIGuarded(mechanism).plan(statistics, rng)
    (other,) = LDPEVI(mechanism).plan(statistics, rng)
    assert np.array_equal(one.policy, other.policy)
