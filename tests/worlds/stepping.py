"""Steps a compiled world from a given state, to compare it with something slower."""

from __future__ import annotations

from typing import Any, NamedTuple

import numba
import numpy as np

from ldprl.kernels.compiling import exact_method
from ldprl.shape import Array, FloatArray

_observe = exact_method("observe")
_step = exact_method("step")


class Traced(NamedTuple):
    """What happened at each step, up to the end."""

    states: FloatArray
    seen: FloatArray
    rewards: FloatArray
    overs: Array


@numba.njit
def _advance(
    world: Any, state: FloatArray, action: FloatArray, seen: FloatArray, stream: Array
) -> tuple[float, bool]:
    reward, over = _step(world, state, action, stream)
    _observe(world, state, seen, stream)
    return reward, over


def trace(world: Any, start: FloatArray, actions: FloatArray, seen: int = 6) -> Traced:
    """Return what happens from a state under a sequence of actions."""
    state, view = np.zeros(world.size), np.zeros(seen)
    state[: len(start)] = start
    stream = np.arange(1, 5, dtype=np.uint64)
    found: list[tuple[FloatArray, FloatArray, float, bool]] = []
    for action in actions:
        reward, over = _advance(world, state, np.array([action]), view, stream)
        found.append((state.copy(), view.copy(), reward, over))
        if over:
            break
    states, views, rewards, overs = (np.array(column) for column in zip(*found, strict=True))
    return Traced(states, views, rewards, overs)
