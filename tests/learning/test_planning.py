"""Planning against loops, and against the exact solution of true models."""

from __future__ import annotations

import numpy as np
import pytest

from ldprl.learning.planning import plan
from ldprl.shape import FloatArray, Shape
from ldprl.worlds import TabularMDP, optimum, policy_values, random_mdp
from tests.learning.cases import SHAPES


def models(shape: Shape, seed: int) -> tuple[FloatArray, FloatArray]:
    """Return signed rewards and transitions."""
    rng = np.random.default_rng(seed)
    cells = (shape.models, shape.states, shape.actions)
    moves = (shape.transition_models, shape.states, shape.actions, shape.states)
    return rng.normal(size=cells), rng.normal(size=moves)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("seed", range(5))
def test_plan_is_backward_induction_without_truncation(shape: Shape, seed: int) -> None:
    rewards, transitions = models(shape, seed)
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
