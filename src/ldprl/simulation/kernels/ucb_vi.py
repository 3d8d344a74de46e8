"""UCB-VI on tallies (twin: :meth:`ldprl.learning.ucb_vi.UCBVI.optimistic`)."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from ldprl.shape import Array, FloatArray, IntArray
from ldprl.simulation.kernels.arrays import REWARD, VISITS, World
from ldprl.simulation.kernels.options import inlined
from ldprl.simulation.kernels.planning import (
    BONUS,
    INVERSE,
    LAST,
    NOW,
    Room,
    WideRoom,
    backward,
    read_moves,
)


class Hoeffding(NamedTuple):
    """UCB-VI: ``log_constant`` is ln(5·HSA·H/δ)."""

    room: Room | WideRoom
    log_constant: float


class Bernstein(NamedTuple):
    """UCB-VI with the Bernstein bonus."""

    room: Room | WideRoom
    log_constant: float


@inlined
def _empirical(
    room: Any, noise: Any, world: World, tally: FloatArray, log_term: float, scale: float
) -> None:
    """Write r̂ + √(L/N), p̂ in its factors, and the bonus scale/√N of moves (and the last step)."""
    model = room.model
    for cell in range(world.rewards.size):
        row = cell * world.width
        visits = tally[row + VISITS]
        if visits > 0:
            root = math.sqrt(1 / visits)
            model[cell, NOW] = tally[row + REWARD] / visits + math.sqrt(log_term) * root
            model[cell, LAST] = model[cell, NOW] + scale * root
        else:
            model[cell, NOW] = np.inf
            model[cell, LAST] = np.inf
        if cell >= world.leading:
            continue
        departures = read_moves(room, noise, world, tally, cell, 0.0)
        if departures > 0:
            model[cell, INVERSE] = 1 / departures
            model[cell, BONUS] = scale * math.sqrt(model[cell, INVERSE])
        else:
            model[cell, INVERSE] = 0
            model[cell, BONUS] = np.inf


def hoeffding(
    learner: Hoeffding,
    noise: Any,
    world: World,
    tally: FloatArray,
    reports: FloatArray,
    arrivals: FloatArray,
    users: int,
    policy: IntArray,
    stream: Array,
) -> bool:
    """Write UCB-VI's policy; return whether it changed."""
    log_term = learner.log_constant + math.log(users + 1.0)
    _empirical(learner.room, noise, world, tally, log_term, 7 * world.horizon * log_term)
    changed: bool = backward(learner.room, world, 1, 0, policy)
    return changed


def bernstein(
    learner: Bernstein,
    noise: Any,
    world: World,
    tally: FloatArray,
    reports: FloatArray,
    arrivals: FloatArray,
    users: int,
    policy: IntArray,
    stream: Array,
) -> bool:
    """Write the policy of UCB-VI with the Bernstein bonus; return whether it changed.

    The bonus of a step hangs on the values of the next one, so it is found on the way back.
    """
    model, values = learner.room.model, learner.room.values
    states, horizon = world.states, world.horizon
    log_term = learner.log_constant + math.log(users + 1.0)
    _empirical(learner.room, noise, world, tally, log_term, 0.0)
    most_unknown = float(horizon * horizon)
    unknown = 1e4 * most_unknown * horizon * states * states * world.actions * log_term**2
    changed = False
    for step in range(horizon - 1, -1, -1):
        after = (step + 1) * states
        for state in range(states):
            first = step * world.stride + state * world.actions
            best, chosen = -np.inf, 0
            for action in range(world.actions):
                cell = first + action
                if step + 1 == horizon:
                    worth = model[cell, LAST]
                else:
                    row = cell * world.width + world.moves_at
                    mean, square, spread = 0.0, 0.0, 0.0
                    for target in range(states):
                        moves, value = tally[row + target], values[after + target]
                        mean += moves * value
                        square += moves * value * value
                        arrived = max(arrivals[after + target], 1.0)
                        spread += moves * min(unknown / arrived, most_unknown)
                    inverse = model[cell, INVERSE]
                    mean *= inverse
                    variance = max(square * inverse - mean * mean, 0.0)
                    worth = model[cell, NOW] + model[cell, BONUS] + mean
                    worth += 14 * horizon * log_term / 3 * inverse
                    worth += math.sqrt(8 * log_term * variance * inverse)
                    worth += math.sqrt(8 * spread) * inverse
                if worth > best:
                    best, chosen = worth, action
            values[after - states + state] = min(best, float(horizon - step))
            if policy[after - states + state] != chosen:
                policy[after - states + state] = chosen
                changed = True
    return changed
