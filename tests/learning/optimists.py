"""Optimistic planners once more in plain numpy: slow, obvious, and what compiled ones equal.

Each function takes a learner of the library and sums, and returns the optimistic policy and values.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from ldprl.learning.ucb_vi import UCBVI, UCBVIBernstein
from ldprl.shape import FloatArray, Policy, Shape
from ldprl.statistics import Statistics

Bonus = Callable[[int, FloatArray], FloatArray]
"""Bonus of shape (S, A) at a step, given the values V_{h+1} of the step after it."""


def optimistic_plan(
    shape: Shape, rewards: FloatArray, counts: FloatArray, inverse: FloatArray, bonus: Bonus
) -> tuple[Policy, FloatArray]:
    """Plan with truncated optimism (equation 4 of the paper).

    Q_h(s,a) = r̃(s,a) + b_h(s,a) + p̃(·|s,a)ᵀ V_{h+1}, π_h(s) = argmax_a Q_h(s,a) and
    V_h(s) = min{H − h + 1, max_a Q_h(s,a)}.

    Parameters
    ----------
    shape
        Sizes of the problem.
    rewards
        r̃, of shape (models, S, A); may be signed.
    counts, inverse
        Factors of p̃(s'|s,a) = counts(s,a,s')·inverse(s,a), of shapes (transition models, S, A, S)
        and (transition models, S, A); may be signed. It is cheaper to scale the expectation than
        the model.
    bonus
        What optimism adds; may be infinite.

    Returns
    -------
    policy, values
        Of shapes (H, S) and (H + 1, S).
    """
    policy = np.empty((shape.horizon, shape.states), dtype=np.int64)
    values = np.zeros((shape.horizon + 1, shape.states))
    states = np.arange(shape.states)
    # One matrix-vector product a step, over all (s, a) at once.
    rows = counts.reshape(shape.transition_models, shape.states * shape.actions, shape.states)
    for step in reversed(range(shape.horizon)):
        model = shape.model_of(step)
        action_values = rewards[model] + bonus(step, values[step + 1])
        if step + 1 < shape.horizon:
            future = rows[model] @ values[step + 1]
            action_values += inverse[model] * future.reshape(shape.states, shape.actions)
        policy[step] = action_values.argmax(axis=1)
        values[step] = np.minimum(shape.horizon - step, action_values[states, policy[step]])
    return policy, values


def ucb_vi(self: UCBVI, statistics: Statistics) -> tuple[Policy, FloatArray]:
    """Return the optimistic policy and values of shape (H + 1, S)."""
    shape = statistics.shape
    visits, departures = statistics.visits, statistics.departures
    known, left = visits > 0, departures > 0
    count, leaving = np.where(known, visits, 1.0), np.where(left, departures, 1.0)
    inverse = 1 / leaving
    reward_width = np.sqrt(_ucb_log(self, statistics) / count)

    def bonus(step: int, values: FloatArray) -> FloatArray:
        model = shape.model_of(step)
        if step + 1 == shape.horizon:
            enough, width = known[model], _last_width(self, statistics, count[model])
        else:
            enough = known[model] & left[model]
            width = _width(self, statistics, step, leaving[model], values)
        return np.where(enough, width + reward_width[model], np.inf)

    return optimistic_plan(
        shape, statistics.rewards / count, statistics.transitions, inverse, bonus
    )


def _ucb_log(self: UCBVI, statistics: Statistics) -> float:
    shape = statistics.shape
    steps = (statistics.users + 1) * shape.horizon
    cells = shape.horizon * shape.states * shape.actions
    return math.log(5 * cells * steps / self.failure)


def _width(
    self: UCBVI, statistics: Statistics, step: int, count: FloatArray, values: FloatArray
) -> FloatArray:
    """Return the transition bonus before the last step, where each cell was left N times."""
    if not isinstance(self, UCBVIBernstein):
        return _last_width(self, statistics, count)
    assert statistics.arrivals is not None
    shape, log_term = statistics.shape, _ucb_log(self, statistics)
    moves = statistics.transitions[shape.model_of(step)] / count[..., None]
    mean = moves @ values
    variance = np.maximum(moves @ values**2 - mean**2, 0.0)
    error = 1e4 * shape.horizon**3 * shape.states**2 * shape.actions * log_term**2
    arrivals = np.maximum(statistics.arrivals[step + 1], 1.0)
    spread = moves @ np.minimum(error / arrivals, shape.horizon**2)
    width = np.sqrt(8 * log_term * variance / count)
    width += 14 * shape.horizon * log_term / (3 * count) + np.sqrt(8 * spread / count)
    return np.asarray(width)


def _last_width(self: UCBVI, statistics: Statistics, count: FloatArray) -> FloatArray:
    """Return the bonus of the last step, where each cell was visited N times: as printed."""
    if isinstance(self, UCBVIBernstein):
        return np.zeros_like(count)
    width = 7 * statistics.shape.horizon * _ucb_log(self, statistics) / np.sqrt(count)
    return np.asarray(width)
