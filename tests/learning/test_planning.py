"""The shared planner against loops, and against the exact solution of true models."""

from __future__ import annotations

import numpy as np
import pytest

from ldprl.learning.planning import optimistic_plan, plan
from ldprl.mdp import TabularMDP, optimum, policy_values, random_mdp
from ldprl.shape import FloatArray, Shape
from tests.learning.cases import SHAPES


def models(shape: Shape, seed: int) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    """Return signed r̃, counts, inverse and a bonus for every step, some of it infinite."""
    rng = np.random.default_rng(seed)
    cells = (shape.models, shape.states, shape.actions)
    moves = (shape.transition_models, shape.states, shape.actions, shape.states)
    bonus = rng.random((shape.horizon, shape.states, shape.actions))
    bonus[rng.random(bonus.shape) < 0.1] = np.inf
    return rng.normal(size=cells), rng.normal(size=moves), rng.random(moves[:3]), bonus


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("seed", range(5))
def test_optimistic_plan_is_truncated_backward_induction(shape: Shape, seed: int) -> None:
    rewards, counts, inverse, bonus = models(shape, seed)
    policy, values = optimistic_plan(
        shape, rewards, counts, inverse, lambda step, after: bonus[step] + 0.1 * after.sum()
    )
    expected = np.zeros((shape.horizon + 1, shape.states))
    for step in reversed(range(shape.horizon)):
        model = step if shape.step_dependent else 0
        for s in range(shape.states):
            q = []
            for a in range(shape.actions):
                q.append(rewards[model, s, a] + bonus[step, s, a] + 0.1 * expected[step + 1].sum())
                for y in range(shape.states):
                    if step + 1 < shape.horizon:
                        p = counts[model, s, a, y] * inverse[model, s, a]
                        q[a] += p * expected[step + 1, y]
            assert policy[step, s] == q.index(max(q))
            expected[step, s] = min(shape.horizon - step, max(q))
    np.testing.assert_allclose(values, expected, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("seed", range(5))
def test_plan_is_backward_induction_without_truncation(shape: Shape, seed: int) -> None:
    rewards, transitions, _, _ = models(shape, seed)
    rewards = 3 * rewards
    policy = plan(shape, rewards, transitions)
    values = np.zeros(shape.states)
    for step in reversed(range(shape.horizon)):
        model = step if shape.step_dependent else 0
        q = rewards[model].copy()
        if step + 1 < shape.horizon:
            for s, a, y in np.ndindex(transitions.shape[1:]):
                q[s, a] += transitions[model, s, a, y] * values[y]
        np.testing.assert_array_equal(policy[step], q.argmax(axis=1))
        values = q.max(axis=1)


@pytest.mark.parametrize("step_dependent", [False, True])
@pytest.mark.parametrize("seed", range(10))
def test_true_models_give_the_optimum(seed: int, step_dependent: bool) -> None:
    mdp = random_mdp(4, 3, 5, seed=seed)
    if step_dependent:
        rng = np.random.default_rng(seed)
        mdp = TabularMDP(rng.dirichlet(np.ones(4), (5, 4, 3)), rng.random((5, 4, 3)), 5)
    shape = mdp.shape
    rewards = mdp.rewards.reshape(shape.models, shape.states, shape.actions)
    moves = (shape.transition_models, shape.states, shape.actions, shape.states)
    transitions = mdp.step_transitions[: shape.transition_models].reshape(moves)
    best = optimum(mdp).values
    policy = plan(shape, rewards, transitions)
    np.testing.assert_allclose(policy_values(mdp, policy)[0], best[0], atol=1e-12)
    zero = np.zeros(mdp.rewards.shape[-2:])
    policy, values = optimistic_plan(
        shape, rewards, transitions, np.ones(moves[:3]), lambda step, _: zero
    )
    np.testing.assert_allclose(values, best, atol=1e-12)
    np.testing.assert_allclose(policy_values(mdp, policy)[0], best[0], atol=1e-12)
