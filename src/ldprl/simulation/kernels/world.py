"""Users' lives, one at a time or n at once, and what a policy costs them.

Twins: :func:`ldprl.simulation.reference.live`, :func:`ldprl.simulation.world.draw_totals` and
:class:`ldprl.simulation.regret.RegretRecorder`.
"""

from __future__ import annotations

import math

import numpy as np

from ldprl.shape import Array, FloatArray, IntArray
from ldprl.simulation.kernels.arrays import REWARD, SQUARE, VISITS, World
from ldprl.simulation.kernels.draws import binomial
from ldprl.simulation.kernels.generator import uniform
from ldprl.simulation.kernels.options import inlined


@inlined
def live(
    world: World,
    policy: IntArray,
    counts: FloatArray,
    arrivals: FloatArray,
    chance: Array,
    rounding: Array,
) -> None:
    """Add one user's trajectory to ``counts``; it takes the same draws whatever the policy."""
    state = _pick(world.cumulative, world.rewards.size * world.states, uniform(chance))
    for step in range(world.horizon):
        place = step * world.states + state
        cell = step * world.stride + state * world.actions + policy[place]
        reward = world.rewards[cell]
        if world.bernoulli:
            reward = 1.0 if uniform(chance) < reward else 0.0
        row = cell * world.width
        counts[row + VISITS] += 1
        counts[row + REWARD] += _on_grid(reward, world.resolution, rounding)
        if world.moves_at > SQUARE:
            counts[row + SQUARE] += _on_grid(reward * reward, world.resolution, rounding)
        if arrivals.size:
            arrivals[place] += 1
        if step + 1 < world.horizon:
            state = _pick(world.cumulative, cell * world.states, uniform(chance))
            counts[row + world.moves_at + state] += 1


@inlined
def _pick(cumulative: FloatArray, row: int, u: float) -> int:
    state = 0
    while cumulative[row + state] < u:
        state += 1
    return state


@inlined
def _on_grid(value: float, resolution: int, stream: Array) -> float:
    """Round ``value`` up or down at random (twin: ``round_to_grid``)."""
    if resolution == 0:
        return value
    whole = math.floor(value * resolution)
    rest = value * resolution - whole
    if rest > 0 and uniform(stream) < rest:
        return whole + 1.0
    return float(whole)


@inlined
def live_many(
    world: World,
    policy: IntArray,
    users: float,
    counts: FloatArray,
    arrivals: FloatArray,
    here: FloatArray,
    chance: Array,
    rounding: Array,
) -> None:
    """Add the summed trajectories of ``users`` users to ``counts``, exactly in distribution.

    ``here`` is room for two rows of S: where users are, and where they go.
    """
    states = world.states
    left = users
    for state in range(states):
        here[state] = binomial(left, world.hazards[world.rewards.size * states + state], chance)
        left -= here[state]
    for step in range(world.horizon):
        for state in range(states):
            here[states + state] = 0
        for state in range(states):
            visits = here[state]
            if visits == 0:
                continue
            place = step * states + state
            cell = step * world.stride + state * world.actions + policy[place]
            row = cell * world.width
            counts[row + VISITS] += visits
            _reward_many(world, cell, visits, counts, chance, rounding)
            if arrivals.size:
                arrivals[place] += visits
            if step + 1 < world.horizon:
                for target in range(states):
                    moved = binomial(visits, world.hazards[cell * states + target], chance)
                    counts[row + world.moves_at + target] += moved
                    here[states + target] += moved
                    visits -= moved
        for state in range(states):
            here[state] = here[states + state]


@inlined
def _reward_many(
    world: World, cell: int, visits: float, counts: FloatArray, chance: Array, rounding: Array
) -> None:
    mean, resolution, row = world.rewards[cell], world.resolution, cell * world.width
    if world.bernoulli:
        total = square = binomial(visits, mean, chance) * max(resolution, 1)
    else:
        total = _on_grid_many(visits, mean, resolution, rounding)
        square = 0.0
        if world.moves_at > SQUARE:
            square = _on_grid_many(visits, mean * mean, resolution, rounding)
    counts[row + REWARD] += total
    if world.moves_at > SQUARE:
        counts[row + SQUARE] += square


@inlined
def _on_grid_many(visits: float, value: float, resolution: int, stream: Array) -> float:
    """Sum ``visits`` copies of ``value``, each rounded at random to the grid on its own."""
    if resolution == 0:
        return visits * value
    whole = math.floor(value * resolution)
    rest = value * resolution - whole
    return visits * whole + binomial(visits, rest, stream)


@inlined
def policy_loss(world: World, policy: IntArray, values: FloatArray) -> float:
    """Return what one user of ``policy`` loses on average; ``values`` is room for two rows of S."""
    states = world.states
    for state in range(states):
        values[state] = 0
    for step in range(world.horizon - 1, -1, -1):
        for state in range(states):
            action = policy[step * states + state]
            cell = step * world.stride + state * world.actions + action
            total, row = world.rewards[cell], cell * states
            for target in range(np.uint64(states)):
                total += world.moves[np.uint64(row) + target] * values[target]
            values[states + state] = total
        for state in range(states):
            values[state] = values[states + state]
    value, row = 0.0, world.rewards.size * states
    for state in range(states):
        value += world.moves[row + state] * values[state]
    return max(world.best - value, 0.0)
