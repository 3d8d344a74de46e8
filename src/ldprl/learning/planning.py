"""Plan for a model without a bonus: for your own learner, and to look at what is believed."""

from __future__ import annotations

import numpy as np

from ldprl.kernels.arrays import model_sums_of, sizes_of
from ldprl.kernels.door import floats
from ldprl.kernels.values import solve
from ldprl.learning.exploration import expect
from ldprl.shape import FloatArray, Policy, Shape, check_policy
from ldprl.statistics import Statistics


def plan(shape: Shape, rewards: FloatArray, transitions: FloatArray) -> Policy:
    """Return the optimal policy of a model: no bonus, no truncation.

    Models have shapes (models, S, A) and (transition models, S, A, S).
    """
    return solve(shape, rewards, transitions)[0]


def expected_shares(statistics: Statistics, policy: Policy, moves: FloatArray) -> FloatArray:
    """Return the expected share of users in each state at each step, of shape (H, S).

    Users start where the sums say, and move by the transition model ``moves``.
    """
    shape = statistics.shape
    shares = np.zeros((shape.horizon, shape.states))
    wanted = (shape.transition_models, shape.states, shape.actions, shape.states)
    rows = floats("moves", moves, wanted).reshape(-1, shape.states)
    table = check_policy("policy", policy, shape).ravel().copy()
    start, arrivals = np.zeros(shape.states), model_sums_of(statistics).arrivals
    expect(sizes_of(shape), arrivals, table, rows, start, shares.ravel())
    return shares
