"""Whether a service has learnt anything: values in drawn models, and effects beyond noise."""

from __future__ import annotations

import numpy as np
import pytest

from ldprl.learning.ldp_ts import Belief
from ldprl.mdp import random_mdp
from ldprl.mdp.evaluation import optimum, policy_values, random_value
from ldprl.service.learning import LEVEL, learning_of_effects, learning_of_model, mixed_value
from ldprl.shape import FloatArray, Policy, Shape
from ldprl.statistics import Effects

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
    found = learning_of_model(MDP.shape, MDP.initial, played(best.policy), belief(0.0), RNG)
    assert found["best_value"] == found["value"] == round(float(MDP.initial @ best.values[0]), 4)
    assert found["random_value"] == pytest.approx(random_value(MDP), abs=1e-4)
    assert (found["closed"], found["significant"]) == (1.0, True)
    rest = (MDP.rewards[None], MDP.transitions[None])
    table = np.zeros((5, 4), dtype=np.int64)
    value = mixed_value(MDP.shape, played(table), *rest)
    np.testing.assert_allclose(value, policy_values(MDP, table)[0])


def test_nothing_is_learnt_where_any_model_is_possible() -> None:
    first = np.zeros((5, 4), dtype=np.int64)
    found = learning_of_model(MDP.shape, MDP.initial, played(first), belief(0.5), RNG)
    assert not found["significant"]


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
    )


def test_noise_is_not_called_learning_and_effects_are() -> None:
    """Of 300 sums of noise 0.3 are expected to be significant: 7 have a probability below 1e-7."""
    false = sum(learning_of_effects(_effects(0.0, seed))["significant"] for seed in range(300))
    assert false <= 6
    assert LEVEL * 300 < 1
    assert all(learning_of_effects(_effects(8.0, seed))["significant"] for seed in range(20))
    assert not learning_of_effects(Effects.empty(Shape(6, 3, 2)))["significant"]
