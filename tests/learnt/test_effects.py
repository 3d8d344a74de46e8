"""Whether anything is learnt, from sums alone: values in drawn models, and effects beyond noise."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from ldprl.assignment import Plan
from ldprl.catalogue import build
from ldprl.learning.ldp_ts import Belief
from ldprl.learnt.effects import (
    LEVEL,
    advised_actions,
    beyond_noise,
    mean_of,
    values_from_effects,
)
from ldprl.learnt.models import mixed_value, values_in_models
from ldprl.learnt.sample_size import TARGET, typical_need, users_at_random, users_needed
from ldprl.learnt.share import learnt, learnt_so_far, rounded
from ldprl.mechanisms.return_bits import ReturnBits
from ldprl.shape import FloatArray, Policy, Shape
from ldprl.simulation.engine import simulate
from ldprl.simulation.replan import AtLeast, replan_from
from ldprl.statistics import Effects, Statistics
from ldprl.structure import Structure
from ldprl.worlds import TabularMDP, mdp_from, random_mdp
from ldprl.worlds.evaluation import optimum, policy_values, random_value
from ldprl.worlds.plausible import plausible_scenarios

MDP = random_mdp(4, 3, 5, 3)
RNG = np.random.default_rng(0)


def belief(spread: float) -> Belief:
    rewards, moves = MDP.rewards[None], MDP.transitions[None]
    return Belief(rewards, np.full(rewards.shape, spread), moves, np.full(moves.shape, spread))


def played(policy: Policy) -> FloatArray:
    chances: FloatArray = np.eye(3)[policy]
    return chances


def test_values_are_exact_where_the_model_is_known() -> None:
    best = optimum(MDP)
    values = values_in_models(MDP.shape, MDP.initial, played(best.policy), belief(0.0))
    found = learnt_so_far(MDP.shape, 2.0, 100, values)
    assert found["best_value"] == found["value"] == round(float(MDP.initial @ best.values[0]), 4)
    assert found["random_value"] == pytest.approx(random_value(MDP), abs=1e-4)
    assert (found["closed"], found["significant"], found["users_needed"]) == (1.0, True, None)
    assert found["said"].startswith("About 100% of the gap is closed (100% to 100%): users earn ")
    rest = (MDP.rewards[None], MDP.transitions[None])
    table = np.zeros((5, 4), dtype=np.int64)
    value = mixed_value(MDP.shape, played(table), *rest)
    np.testing.assert_allclose(value, policy_values(MDP, table)[0])


def test_only_admissible_actions_count() -> None:
    known = Structure.from_document({"admissible": [[0], [0, 1], [1, 2], [2]]}, MDP.shape)
    limited = replace(MDP, structure=known)
    best = optimum(limited)
    policy = np.where(known.choices, best.action_values, -np.inf).argmax(axis=-1)
    exact = belief(0.0)._replace(rewards=np.where(known.choices, MDP.rewards, -10.0)[None])
    values = values_in_models(MDP.shape, MDP.initial, played(policy), exact, known)
    expected = float(limited.initial @ best.values[0])
    assert np.median(values, axis=0) == pytest.approx([expected, random_value(limited), expected])


def test_nothing_is_learnt_where_any_model_is_possible() -> None:
    first = np.zeros((5, 4), dtype=np.int64)
    values = values_in_models(MDP.shape, MDP.initial, played(first), belief(0.5))
    found = learnt_so_far(MDP.shape, 2.0, 5, values)
    assert not found["significant"]
    needed = typical_need(MDP.shape, 2.0, None)
    assert found["users_needed"] == round(needed)
    about = f"Nothing learnt yet; at ε = 2 about {rounded(needed)} users are needed"
    assert found["said"].startswith(about)
    assert "in a typical problem of these sizes (ldp-ts with subset-selection)" in found["said"]
    # One action a state leaves nothing to learn.
    alone = Structure.from_document({"admissible": [[0]] * 4}, MDP.shape)
    assert typical_need(MDP.shape, 2.0, alone) == math.inf
    assert typical_need(Shape(3, 1, 2), 2.0, None) == math.inf


@pytest.mark.parametrize(
    ("text", "epsilon"), [("random:1,4,1,7", 1.0), ("random:10,3,5,7", 1.0), ("grid:3,3,8", 2.0)]
)
def test_bits_of_the_return_tell_the_values_too(text: str, epsilon: float) -> None:
    """Means of 1,000 and 30,000 users within 5 standard errors: type-I error below 1e-6."""
    world, users = mdp_from(text), 30_000
    learner, mechanism = build(
        "ldp-returns", "return-bits", world.shape, episodes=users, epsilon=epsilon
    )
    assert isinstance(mechanism, ReturnBits)
    schedule = AtLeast(replan_from("growth:0.2"), 1000)

    def reported_by(count: int) -> Statistics:
        return simulate(world, learner, mechanism, count, 1, 2000, schedule).statistics[0]

    def plan_from(sums: Statistics) -> Plan:
        return learner.plan(sums, np.random.default_rng(0))

    now, first = reported_by(users), reported_by(1000)
    assert now.effects is not None
    assert first.effects is not None
    plan, blind = plan_from(now), plan_from(mechanism.no_statistics())
    latest = mean_of(mechanism, now.effects, [(one, 1) for one in plan])
    earliest = mean_of(mechanism, first.effects, [(one, 1) for one in blind])
    values = values_from_effects(mechanism, plan, now.effects, latest, earliest)
    significant = beyond_noise(now.effects, users)
    found = learnt_so_far(world.shape, epsilon, users, values, significant=significant)
    best, at_random = float(world.initial @ optimum(world).values[0]), random_value(world)
    model = (world.rewards[None], world.transitions[None])
    law = advised_actions(world.shape, plan)
    value = float(world.initial @ mixed_value(world.shape, law, *model))
    gap = best - at_random
    # The latest users include some from before, and the first ones' laws lean: both by little.
    assert abs(found["value"] - value) < 5 * latest[1] + 0.1 * gap
    assert abs(found["random_value"] - at_random) < 5 * earliest[1] + 0.1 * gap
    assert found["best_value"] > value - 5 * latest[1]
    assert found["closed_low"] <= (value - at_random) / gap
    assert found["closed"] > 0.5
    assert found["significant"]
    # Somebody who takes the latest users for the first sees no gap closed.
    other = values_from_effects(mechanism, plan, now.effects, earliest, latest)
    assert learnt_so_far(MDP.shape, 2.0, users, other, significant=True)["closed"] < 0.1


def test_where_actions_do_not_matter_nothing_is_learnt() -> None:
    world = TabularMDP(np.full((8, 2, 8), 1 / 8), np.full((8, 2), 0.5), 3, reward_kind="bernoulli")
    learner, mechanism = build("ldp-returns", "return-bits", world.shape, episodes=1, epsilon=2.0)
    assert isinstance(mechanism, ReturnBits)
    sums = simulate(world, learner, mechanism, 2000, 1, 0, "growth:0.5").statistics[0]
    assert sums.effects is not None
    plan = learner.plan(sums, RNG)
    mean = mean_of(mechanism, sums.effects, [(one, 1) for one in plan])
    values = values_from_effects(mechanism, plan, sums.effects, mean, mean)
    significant = beyond_noise(sums.effects, 2000)
    found = learnt_so_far(world.shape, 2.0, 2000, values, significant=significant)
    assert not found["significant"]
    assert found["said"].startswith("Nothing learnt yet; at ε = 2 about ")
    assert users_at_random(world.shape, 2.0, None) == pytest.approx(
        found["users_needed"] / 10, rel=0.1
    )


def test_users_grow_as_the_square_of_the_states() -> None:
    """What is said of many states, by what is computed for 200: within a third of it at 400."""
    worlds = plausible_scenarios(Shape(400, 3, 5), 3, seed=0)
    computed = sorted(users_needed(one.mdp, 2.0) for one in worlds)[1]
    assert typical_need(Shape(400, 3, 5), 2.0, None) == pytest.approx(computed, rel=1 / 3)


def _effects(push: float, seed: int) -> Effects:
    """Return sums of 10,000 users whose first action has an effect of ``push`` deviations."""
    rng, shape = np.random.default_rng(seed), Shape(6, 3, 2)
    empty = Effects.empty(shape)
    even = np.eye(3) / 3 - 1 / 9
    noise = rng.multivariate_normal(np.zeros(3), even, size=empty.scores.shape[:2])
    push_to = even @ np.array([push, 0.0, 0.0])
    return Effects(
        100 * (noise + push_to),
        np.broadcast_to(10_000 * even, empty.information.shape).copy(),
        empty.thresholds,
        np.ones(2),
    )


def test_noise_is_not_called_learning_and_effects_are() -> None:
    """Of 300 sums of noise 0.003 are expected to be significant: 3 have a probability of 5e-9."""
    assert sum(beyond_noise(_effects(0.0, seed), 10_000) for seed in range(300)) <= 2
    assert LEVEL * 300 < 0.01
    assert all(beyond_noise(_effects(8.0, seed), 10_000) for seed in range(20))
    assert not beyond_noise(Effects.empty(Shape(6, 3, 2)), 0)


def test_few_users_of_many_states_have_learnt_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """At 0.2% a run, 4 of 20 have a probability below 1e-7; squares of what few tried are many."""
    world = TabularMDP(np.full((100, 10, 100), 1 / 100), np.full((100, 10), 0.1), 5)
    learner, mechanism = build("ldp-returns", "return-bits", world.shape, episodes=1, epsilon=2.0)
    found = simulate(world, learner, mechanism, 200, 20, 0, "growth:0.5").statistics
    effects = [one.effects for one in found if one.effects is not None]
    assert sum(beyond_noise(one, 200) for one in effects) <= 3
    monkeypatch.setattr("ldprl.learnt.effects._LEAST_TRIED", 0.0)
    assert sum(beyond_noise(one, 200) for one in effects) > 3
    # Answers that scatter by ten times what was guessed are no effect.
    noise = _effects(0.0, 1)
    louder = replace(noise, scores=10 * noise.scores)
    assert beyond_noise(louder, 10_000)
    assert not beyond_noise(replace(louder, squares=np.array([100.0, 1.0])), 10_000)


def test_a_typical_problem_needs_what_the_service_says_within_a_factor_of_three() -> None:
    """In the middle one of three worlds half of the gap takes a third to three times the number."""
    shape, epsilon = Shape(8, 2, 5), 1.0
    needed = typical_need(shape, epsilon, None)
    worlds = [one.mdp for one in plausible_scenarios(shape, 3, seed=0)]

    def closed(users: int) -> float:
        learner, mechanism = build(
            "ldp-returns", "return-bits", shape, episodes=users, epsilon=epsilon
        )
        shares = []
        for world in worlds:
            sums = simulate(world, learner, mechanism, users, 8, 0, "growth:0.2").statistics
            shares.append(float(np.mean(learnt(world, learner, sums).shares)))
        return sorted(shares)[1]

    assert closed(round(needed / 3)) < TARGET < closed(round(3 * needed))
