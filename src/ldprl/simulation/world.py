"""Many users at once: their summed trajectories, drawn exactly in distribution.

Users are independent given the policy they run and the service sees only sums, so the sums of n
users can be drawn step by step from multinomials, without any one of them being simulated.
"""

from __future__ import annotations

import numpy as np

from ldprl.mechanisms.true_counts import TrueCounts
from ldprl.shape import Array, FloatArray, IntArray, Policy
from ldprl.worlds.tabular import TabularMDP


def draw_true_counts(
    mdp: TabularMDP, policy: Policy, users: int, resolution: int | None, rng: np.random.Generator
) -> TrueCounts:
    """Draw the episodes of ``users`` independent users of ``policy``, summed."""
    shape = mdp.shape
    states = np.arange(shape.states)
    arrivals = np.zeros((shape.horizon, shape.states), dtype=np.int64)
    moves = np.zeros((shape.horizon - 1, shape.states, shape.states), dtype=np.int64)
    dtype = np.float64 if resolution is None else np.int64
    rewards = np.zeros((shape.horizon, shape.states), dtype=dtype)
    squares = np.zeros((shape.horizon, shape.states), dtype=dtype)
    arrivals[0] = rng.multinomial(users, _normalized(mdp.initial))
    mean_rewards, transitions = mdp.step_rewards, mdp.step_transitions
    for step in range(shape.horizon):
        means = mean_rewards[step][states, policy[step]]
        if mdp.reward_kind == "bernoulli":
            ones = rng.binomial(arrivals[step], means)
            rewards[step] = squares[step] = ones * (resolution or 1)
        else:
            rewards[step] = _rounded_sum(arrivals[step], means, resolution, rng)
            squares[step] = _rounded_sum(arrivals[step], means**2, resolution, rng)
        if step + 1 < shape.horizon:
            rows = _normalized(transitions[step][states, policy[step]])
            moves[step] = rng.multinomial(arrivals[step], rows)
            arrivals[step + 1] = moves[step].sum(axis=0)
    return TrueCounts(users, arrivals, moves, rewards, squares, mdp, policy)


def _rounded_sum(
    visits: IntArray, values: FloatArray, resolution: int | None, rng: np.random.Generator
) -> Array:
    """Sum ``visits`` copies of each value, each copy rounded at random to the grid on its own."""
    if resolution is None:
        return visits * values
    whole = np.floor(values * resolution)
    rest = np.clip(values * resolution - whole, 0, 1)
    return visits * whole.astype(np.int64) + rng.binomial(visits, rest)


def _normalized(rows: FloatArray) -> FloatArray:
    """Remove the last rounding error of validated probabilities, which numpy would refuse."""
    result: FloatArray = rows / rows.sum(axis=-1, keepdims=True)
    return result
