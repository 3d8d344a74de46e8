"""Backward induction over an estimated model: the planner that all optimistic learners share."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ldprl.shape import FloatArray, Policy, Shape

Bonus = Callable[[int, FloatArray], FloatArray]
"""Bonus of shape (S, A) at a step, given the values V_{h+1} of the step after it."""


def optimistic_plan(
    shape: Shape, rewards: FloatArray, transitions: FloatArray, bonus: Bonus
) -> tuple[Policy, FloatArray]:
    """Plan with truncated optimism (equation 4 of the paper).

    Q_h(s,a) = r̃(s,a) + b_h(s,a) + p̃(·|s,a)ᵀ V_{h+1}, π_h(s) = argmax_a Q_h(s,a) and
    V_h(s) = min{H − h + 1, max_a Q_h(s,a)}.

    Parameters
    ----------
    shape
        Sizes of the problem.
    rewards, transitions
        The estimated models, of shapes (models, S, A) and (transition models, S, A, S); they may
        be signed.
    bonus
        What optimism adds; may be infinite.

    Returns
    -------
    policy, values
        Of shapes (H, S) and (H + 1, S).
    """
    policy = np.empty((shape.horizon, shape.states), dtype=np.int64)
    values = np.zeros((shape.horizon + 1, shape.states))
    # One matrix-vector product a step, over all (s, a) at once.
    rows = transitions.reshape(shape.transition_models, shape.states * shape.actions, shape.states)
    for step in reversed(range(shape.horizon)):
        model = shape.model_of(step)
        action_values = rewards[model] + bonus(step, values[step + 1])
        if step + 1 < shape.horizon:
            future = rows[model] @ values[step + 1]
            action_values += future.reshape(shape.states, shape.actions)
        policy[step] = action_values.argmax(axis=1)
        values[step] = np.minimum(shape.horizon - step, action_values.max(axis=1))
    return policy, values


def plan(shape: Shape, rewards: FloatArray, transitions: FloatArray) -> Policy:
    """Return the optimal policy of a model as it stands: no bonus, no truncation."""
    policy = np.empty((shape.horizon, shape.states), dtype=np.int64)
    values = np.zeros(shape.states)
    for step in reversed(range(shape.horizon)):
        model = shape.model_of(step)
        action_values = rewards[model].copy()
        if step + 1 < shape.horizon:
            action_values += transitions[model] @ values
        policy[step] = action_values.argmax(axis=1)
        values = action_values.max(axis=1)
    return policy
