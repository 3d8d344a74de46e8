"""UCB-VI on tallies (twin: :meth:`ldprl.learning.ucb_vi.UCBVI.optimistic`)."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from ldprl.shape import Array, FloatArray, IntArray
from ldprl.simulation.kernels.arrays import REWARD, VISITS, World
from ldprl.simulation.kernels.options import inlined
from ldprl.simulation.kernels.planning import BONUS, CHANCES, INVERSE, LAST, NOW, backward


class Hoeffding(NamedTuple):
    """UCB-VI: ``log_constant`` is ln(5·HSA·H/δ)."""

    model: FloatArray
    values: FloatArray
    log_constant: float


class Bernstein(NamedTuple):
    """UCB-VI with the Bernstein bonus."""

    model: FloatArray
    values: FloatArray
    log_constant: float


@inlined
def _empirical(
    model: FloatArray, world: World, tally: FloatArray, log_term: float, scale: float
) -> None:
    """Write r̂ + √(L/N), p̂ in its factors, and the bonus scale/√N of moves (and the last step)."""
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
        departures = 0.0
        for target in range(world.states):
            moves = tally[row + world.moves_at + target]
            model[cell, CHANCES + target] = moves
            departures += moves
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
    _empirical(learner.model, world, tally, log_term, 7 * world.horizon * log_term)
    return backward(learner.model, learner.values, world, 1, 0, policy)


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
    model, values, states, horizon = learner.model, learner.values, world.states, world.horizon
    log_term = learner.log_constant + math.log(users + 1.0)
    _empirical(model, world, tally, log_term, 0.0)
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
                    total = model[cell, LAST]
                else:
                    mean, square, spread = 0.0, 0.0, 0.0
                    for target in range(states):
                        moves, value = model[cell, CHANCES + target], values[step + 1, target]
                        mean += moves * value
                        square += moves * value * value
                        arrived = max(arrivals[after + target], 1.0)
                        spread += moves * min(unknown / arrived, most_unknown)
                    inverse = model[cell, INVERSE]
                    mean *= inverse
                    variance = max(square * inverse - mean * mean, 0.0)
                    total = model[cell, NOW] + model[cell, BONUS] + mean
                    total += 14 * horizon * log_term / 3 * inverse
                    total += math.sqrt(8 * log_term * variance * inverse)
                    total += math.sqrt(8 * spread) * inverse
                if total > best:
                    best, chosen = total, action
            values[step, state] = min(best, float(horizon - step))
            if policy[step * states + state] != chosen:
                policy[step * states + state] = chosen
                changed = True
    return changed
