"""Posterior sampling on tallies.

Twins: :meth:`ldprl.learning.psrl.PSRL.posterior`,
:meth:`ldprl.learning.ldp_psrl.LDPPSRL.posterior` and
:meth:`ldprl.learning.posterior.Posterior.draw_policy`.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from ldprl.shape import Array, FloatArray, IntArray
from ldprl.simulation.kernels.arrays import REWARD, SQUARE, VISITS, World
from ldprl.simulation.kernels.draws import gamma, normal
from ldprl.simulation.kernels.noise import estimate
from ldprl.simulation.kernels.options import inlined, kernel

LEAST = 1e-8
"""As in :mod:`ldprl.learning.posterior`: where noise would push a parameter below zero."""


class Sampling(NamedTuple):
    """PSRL; ``printed`` for the paper's update of β.

    A row of ``model`` is a cell's reward and its chances of moving to each state.
    """

    model: FloatArray
    values: FloatArray
    printed: bool


class PrivateSampling(NamedTuple):
    """LDP-PSRL: the prior's λ₀ = ν₀ and its α₀."""

    model: FloatArray
    values: FloatArray
    prior: float
    dirichlet: float


@kernel
def draw_reward(mean: float, scale: float, shape: float, rate: float, stream: Array) -> float:
    """Draw a mean reward from Normal-Gamma(mean, scale, shape, rate)."""
    precision = gamma(shape, stream) / rate
    return mean + normal(stream) / math.sqrt(max(scale * precision, LEAST * LEAST))


@kernel
def draw_moves(model: FloatArray, cell: int, stream: Array) -> None:
    """Replace a row's parameters of a Dirichlet law by a draw from it."""
    total = 0.0
    states = model.shape[1] - 1
    for target in range(1, states + 1):
        model[cell, target] = gamma(model[cell, target], stream)
        total += model[cell, target]
    for target in range(1, states + 1):
        model[cell, target] = model[cell, target] / total if total > 0 else 1 / states


def sampling(
    learner: Sampling,
    noise: Any,
    world: World,
    tally: FloatArray,
    reports: FloatArray,
    arrivals: FloatArray,
    users: int,
    policy: IntArray,
    stream: Array,
) -> bool:
    """Write PSRL's policy; return whether it changed."""
    model = learner.model
    for cell in range(reports.size):
        row = cell * world.width
        count, total = tally[row + VISITS], tally[row + REWARD]
        average = total / max(count, 1.0)
        deviation = max(tally[row + SQUARE] - total * average, 0.0)
        if learner.printed:
            deviation /= max(count, 1.0)
        scale = 1 + count
        rate = 1 + deviation / 2 + count * average * average / (2 * scale)
        model[cell, 0] = draw_reward(total / scale, scale, 1 + count / 2, rate, stream)
        if cell < world.leading:
            for target in range(world.states):
                model[cell, 1 + target] = 1 + tally[row + world.moves_at + target]
            draw_moves(model, cell, stream)
    return _greedy(model, learner.values, world, policy)


def private_sampling(
    learner: PrivateSampling,
    noise: Any,
    world: World,
    tally: FloatArray,
    reports: FloatArray,
    arrivals: FloatArray,
    users: int,
    policy: IntArray,
    stream: Array,
) -> bool:
    """Write LDP-PSRL's policy; return whether it changed."""
    model, prior = learner.model, learner.prior
    for cell in range(reports.size):
        row, made = cell * world.width, reports[cell]
        count = estimate(noise, row + VISITS, tally[row + VISITS], made)
        total = estimate(noise, row + REWARD, tally[row + REWARD], made)
        square = estimate(noise, row + SQUARE, tally[row + SQUARE], made)
        scale = max(prior + count, LEAST)
        shape = max(prior + count / 2, LEAST)
        rate = max(5 * prior + (square - total * total / scale) / 2, LEAST)
        model[cell, 0] = draw_reward(total / scale, scale, shape, rate, stream)
        if cell < world.leading:
            for target in range(world.states):
                at = row + world.moves_at + target
                moves = estimate(noise, at, tally[at], made)
                model[cell, 1 + target] = max(learner.dirichlet + moves, LEAST)
            draw_moves(model, cell, stream)
    return _greedy(model, learner.values, world, policy)


@inlined
def _greedy(model: FloatArray, values: FloatArray, world: World, policy: IntArray) -> bool:
    """Plan for the model as it stands (twin: :func:`ldprl.learning.planning.plan`)."""
    states, actions, changed = world.states, world.actions, False
    for step in range(world.horizon - 1, -1, -1):
        after = (step + 1) * states
        for state in range(states):
            first = step * world.stride + state * actions
            best, chosen = -np.inf, 0
            for action in range(actions):
                total = model[first + action, 0]
                if step + 1 < world.horizon:
                    for target in range(states):
                        total += model[first + action, 1 + target] * values[after + target]
                if total > best:
                    best, chosen = total, action
            values[after - states + state] = best
            if policy[after - states + state] != chosen:
                policy[after - states + state] = chosen
                changed = True
    return changed
