"""Plan with a box of models that was made by hand, through LDP-EVI's own planner."""

from __future__ import annotations

from typing import Any

import numba
import numpy as np

from ldprl import LDPEVI, NoPrivacy
from ldprl.learning.planners.extended import PlausibleModel, best_mean, optimism_of
from ldprl.learning.planners.ldp_evi import find_policies
from ldprl.shape import FloatArray, IntArray, Policy, Shape

jit: Any = numba.njit


@jit
def mean_of(low: FloatArray, high: FloatArray, order: IntArray, values: FloatArray) -> float:
    return best_mean(low, high, order, values)


@jit
def _plan(planner: Any, extra: FloatArray) -> None:
    find_policies(planner)
    sizes, found = planner.sizes, planner.plausible
    model = PlausibleModel(sizes, found.reward_high, found.move_low, found.move_high, planner.order)
    for h in range(sizes.horizon):
        after = planner.values[(h + 1) * sizes.states : (h + 2) * sizes.states]
        for pair in range(sizes.states * sizes.actions):
            cell = h * sizes.stride + pair
            extra[h, pair] = optimism_of(model, found.moves, cell, h, after)


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
