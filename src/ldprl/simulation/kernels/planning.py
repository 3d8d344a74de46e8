"""Backward induction, which the optimistic learners share.

Twin: :func:`ldprl.learning.planning.optimistic_plan`.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ldprl.shape import FloatArray, IntArray
from ldprl.simulation.kernels.arrays import World
from ldprl.simulation.kernels.dispatch import by_type
from ldprl.simulation.kernels.noise import estimate
from ldprl.simulation.kernels.options import inlined

NOW, LAST, INVERSE, BONUS, CHANCES = range(5)
"""Columns of an optimistic model, a row a cell.

What a step is worth, with its bonus; what it is worth if it is the last; 1/Ñ^p(s,a); what is added
for each step ahead; and, where states are few, moves to each state, which times 1/Ñ^p(s,a) are
chances. All may be infinite where nothing is known.
"""
MANY = 4
"""From so many states on, sums over states are formed for all (s, a) side by side."""


class Room(NamedTuple):
    """Room to plan in where states are few: the model, and the values V_h(s) at h·S + s."""

    model: FloatArray
    values: FloatArray


class WideRoom(NamedTuple):
    """Room to plan in where states are many.

    Moves have a row a target, apart from the model, and a step's Q-values are kept.
    """

    model: FloatArray
    values: FloatArray
    moves: FloatArray
    worth: FloatArray


def _put(room: Room, cell: int, target: int, moves: float) -> None:
    room.model[cell, CHANCES + target] = moves


def _put_wide(room: WideRoom, cell: int, target: int, moves: float) -> None:
    room.moves[target, cell] = moves


put_moves = by_type({Room: _put, WideRoom: _put_wide})
"""put_moves(room, cell, target, moves): write how often a cell led to a state."""


@inlined
def read_moves(
    room: Any, noise: Any, world: World, tally: FloatArray, cell: int, made: float
) -> float:
    """Write how often a cell led to each state, decoded; return the sum, Ñ^p(s,a)."""
    departures, row = 0.0, cell * world.width + world.moves_at
    for target in range(world.states):
        moves = estimate(noise, row + target, tally[row + target], made)
        put_moves(room, cell, target, moves)
        departures += moves
    return departures


def _backward(room: Room, world: World, ahead: int, slope: int, policy: IntArray) -> bool:
    model, values, changed = room.model, room.values, False
    states, actions, horizon = world.states, world.actions, world.horizon
    for step in range(horizon - 1, -1, -1):
        factor, most = float(ahead - slope * step), float(horizon - step)
        after = (step + 1) * states
        for state in range(states):
            first = step * world.stride + state * actions
            best, chosen = -np.inf, 0
            for action in range(actions):
                cell = first + action
                if step + 1 == horizon:
                    total = model[cell, LAST]
                else:
                    future = 0.0
                    for target in range(states):
                        future += model[cell, CHANCES + target] * values[after + target]
                    total = model[cell, NOW] + factor * model[cell, BONUS]
                    total += model[cell, INVERSE] * future
                if total > best:
                    best, chosen = total, action
            values[after - states + state] = min(best, most)
            if policy[after - states + state] != chosen:
                policy[after - states + state] = chosen
                changed = True
    return changed


def _backward_wide(room: WideRoom, world: World, ahead: int, slope: int, policy: IntArray) -> bool:
    """Do the same in loops that vectorise.

    Places in them are unsigned: numba turns negative ones around, which would be in the way.
    """
    model, values, worth, changed = room.model, room.values, room.worth, False
    states, horizon = world.states, world.horizon
    for step in range(horizon - 1, -1, -1):
        factor, most = float(ahead - slope * step), float(horizon - step)
        after = (step + 1) * states
        first = np.uint64(step * world.stride)
        for i in range(np.uint64(worth.size)):
            worth[i] = 0
        if step + 1 < horizon:
            for target in range(states):
                value = values[after + target]
                for i in range(np.uint64(worth.size)):
                    worth[i] += room.moves[target, first + i] * value
        for i in range(np.uint64(worth.size)):
            cell = first + i
            if step + 1 == horizon:
                worth[i] = model[cell, LAST]
            else:
                now = model[cell, NOW] + factor * model[cell, BONUS]
                worth[i] = now + model[cell, INVERSE] * worth[i]
        changed |= choose(room, world, step, most, policy)
    return changed


@inlined
def choose(room: WideRoom, world: World, step: int, most: float, policy: IntArray) -> bool:
    """Write a step's best actions and their values, at most ``most``; tell whether any changed."""
    changed, first = False, step * world.states
    for state in range(world.states):
        best, chosen = -np.inf, 0
        for action in range(world.actions):
            total = room.worth[state * world.actions + action]
            if total > best:
                best, chosen = total, action
        room.values[first + state] = min(best, most)
        if policy[first + state] != chosen:
            policy[first + state] = chosen
            changed = True
    return changed


backward = by_type({Room: _backward, WideRoom: _backward_wide})
"""backward(room, world, ahead, slope, policy): plan with truncated optimism, write the policy and
tell whether it changed; step h (from 0) has ahead − slope·h move bonuses."""
