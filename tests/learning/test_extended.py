"""Extended value iteration against linear programmes over the box and the simplex."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import linprog

from ldprl import Shape, TabularMDP
from ldprl.learning.planning import expected_shares
from ldprl.shape import FloatArray
from ldprl.statistics import Statistics
from ldprl.worlds.evaluation import optimum
from tests.learning.boxes import extended_plan, mean_of

Box = tuple[FloatArray, FloatArray]


def box_around(centre: FloatArray, width: float, rng: np.random.Generator) -> Box:
    low = np.clip(centre - rng.uniform(0, width, centre.shape), 0, 1)
    return low, np.clip(centre + rng.uniform(0, width, centre.shape), 0, 1)


def best_by_programme(low: FloatArray, high: FloatArray, value: FloatArray) -> float:
    """Return max pᵀV over the box and the simplex."""
    bounds = list(zip(low, high, strict=True))
    found = linprog(-value, A_eq=np.ones((1, len(low))), b_eq=[1.0], bounds=bounds)
    assert found.fun is not None
    return -float(found.fun)


@pytest.mark.parametrize("states", [1, 2, 3, 6])
def test_the_best_transition_solves_the_programme(states: int) -> None:
    rng = np.random.default_rng(states)
    for _ in range(40):
        low, high = box_around(rng.dirichlet(np.ones(states)), rng.choice([0.01, 0.3, 1.0]), rng)
        value = rng.normal(size=states)
        found = mean_of(low, high, np.argsort(value), value)
        assert found == pytest.approx(best_by_programme(low, high, value), abs=1e-9)


def test_a_box_that_misses_the_simplex_gives_the_rest_to_the_best_state() -> None:
    values = np.array([10.0, 1.0, 100.0])
    found = mean_of(np.zeros(3), np.full(3, 0.2), np.argsort(values), values)
    assert found == pytest.approx(0.2 * 10 + 0.2 * 1 + 0.6 * 100)


SHAPES = [
    Shape(3, 2, 4),
    Shape(2, 3, 3, step_dependent=True),
    Shape(2, 2, 1),
    Shape(2, 2, 1, step_dependent=True),
]


def world(shape: Shape, rng: np.random.Generator) -> TabularMDP:
    lead = (shape.horizon,) if shape.step_dependent else ()
    transitions = rng.dirichlet(np.ones(shape.states), (*lead, shape.states, shape.actions))
    rewards = rng.random((*lead, shape.states, shape.actions))
    return TabularMDP(transitions, rewards, shape.horizon)


def models(mdp: TabularMDP) -> tuple[FloatArray, FloatArray]:
    """Return rewards and transitions, a leading axis for each model."""
    shape = mdp.shape
    return (
        mdp.step_rewards[: shape.models].copy(),
        mdp.step_transitions[: shape.transition_models].copy(),
    )


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_plans_by_hand(shape: Shape) -> None:
    """Values by one linear programme for each (h, s, a); with a box that covers, V ≥ V⋆."""
    rng = np.random.default_rng(0)
    for width in (0.05, 0.5):
        mdp = world(shape, rng)
        rewards, moves = models(mdp)
        reward_high = np.minimum(rewards + rng.uniform(0, width, rewards.shape), 1)
        low, high = box_around(moves, width, rng)
        found = extended_plan(shape, reward_high, low, high, rewards, moves)
        optimistic, greedy, extra = found
        value, truth = np.zeros(shape.states), optimum(mdp)
        for h in reversed(range(shape.horizon)):
            g = shape.model_of(h)
            q = reward_high[g].copy()
            for s, a in np.ndindex(q.shape):
                if h + 1 < shape.horizon:
                    hoped = best_by_programme(low[g, s, a], high[g, s, a], value)
                    assert extra[h, s, a] == pytest.approx(hoped - moves[g, s, a] @ value, abs=1e-8)
                    q[s, a] += hoped
                else:
                    assert extra[h, s, a] == 0
            chosen = q[np.arange(shape.states), optimistic[h]]
            np.testing.assert_allclose(chosen, q.max(axis=1), atol=1e-8)
            value = np.minimum(q.max(axis=1), shape.horizon - h)
            assert np.all(value >= truth.values[h] - 1e-9)
        np.testing.assert_array_equal(greedy, truth.policy)


def test_among_equals_the_greedy_action_is_taken() -> None:
    """Nothing is known of transitions or of two rewards: all actions look equally good."""
    rewards = np.array([[[0.2, 0.7, 0.5]]])
    ones = np.ones((1, 1, 3, 1))
    optimistic, greedy, _ = extended_plan(
        Shape(1, 3, 2), np.ones((1, 1, 3)), 0 * ones, ones, rewards, ones
    )
    np.testing.assert_array_equal(optimistic, [[1], [1]])
    np.testing.assert_array_equal(greedy, [[1], [1]])


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_shares_of_visits(shape: Shape) -> None:
    rng = np.random.default_rng(3)
    mdp = world(shape, rng)
    policy = rng.integers(0, shape.actions, (shape.horizon, shape.states))
    start = rng.dirichlet(np.ones(shape.states))
    empty = Statistics.empty(shape, arrivals=True)
    assert empty.arrivals is not None
    empty.arrivals[0] = 100 * start
    found = expected_shares(empty, policy, models(mdp)[1])
    expected = start
    for h in range(shape.horizon):
        np.testing.assert_allclose(found[h], expected)
        rows = mdp.step_transitions[h][np.arange(shape.states), policy[h]]
        expected = expected @ rows
