"""Plan with a box of models that was made by hand, through LDP-EVI's own planner."""

from __future__ import annotations

from typing import Any

import numba
import numpy as np

from ldprl import LDPEVI, NoPrivacy
from ldprl.learning.ldp_evi import find_needs, find_policies
from ldprl.learning.optimism import best_mean
from ldprl.shape import FloatArray, IntArray, Policy, Shape

jit: Any = numba.njit


@jit
def mean_of(low: FloatArray, high: FloatArray, order: IntArray, values: FloatArray) -> float:
    return best_mean(low, high, order, values)


@jit
def _plan(planner: Any, extra: FloatArray) -> None:
    sizes, found = planner.sizes, planner.plausible
    find_policies(
        sizes, found, planner.order, planner.values, planner.greedy_values, planner.optimistic,
        planner.greedy,
    )  # fmt: skip
    policy = np.zeros(sizes.horizon * sizes.states, dtype=np.int64)
    shares, needs = np.zeros(policy.size), np.zeros((2, sizes.cells))
    for place in range(policy.size):
        # Only one row is visited: its need is what optimism adds to it.
        shares[place] = 1.0
        for action in range(sizes.actions):
            policy[place] = action
            find_needs(sizes, found, planner.order, planner.values, policy, shares, needs)
            h, s = place // sizes.states, place % sizes.states
            cell = h * sizes.stride + s * sizes.actions + action
            extra[h, s * sizes.actions + action] = needs[1, cell]
        shares[place] = 0.0


def extended_plan(
    shape: Shape, reward_high: FloatArray, low: FloatArray, high: FloatArray, rewards: FloatArray,
    moves: FloatArray,
) -> tuple[Policy, Policy, FloatArray]:  # fmt: skip
    """Return the optimistic and the greedy policy, and what optimism adds to each (h, s, a)."""
    chosen = NoPrivacy(shape)
    planner = LDPEVI(chosen).planner(chosen.no_statistics(), np.random.default_rng(0))
    found, rows = planner.plausible, planner.plausible.moves.shape
    for room, given in (
        (found.reward_high, reward_high), (found.rewards, rewards), (found.move_low, low),
        (found.move_high, high), (found.moves, moves),
    ):  # fmt: skip
        room[...] = np.reshape(given, rows if room.ndim == 2 else -1)
    extra = np.zeros((shape.horizon, shape.states * shape.actions))
    _plan(planner, extra)
    table = (shape.horizon, shape.states)
    return (
        planner.optimistic.reshape(table),
        planner.greedy.reshape(table),
        extra.reshape(*table, shape.actions),
    )
