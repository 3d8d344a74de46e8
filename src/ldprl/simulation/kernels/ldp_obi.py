"""LDP-OBI on tallies (twin: :meth:`ldprl.learning.ldp_obi.LDPOBI.optimistic`)."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from ldprl.shape import Array, FloatArray, IntArray
from ldprl.simulation.kernels.arrays import REWARD, VISITS, World
from ldprl.simulation.kernels.generator import log_of
from ldprl.simulation.kernels.noise import estimate
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


class Optimistic(NamedTuple):
    """LDP-OBI: its constants, and the mechanism's errors where they are known.

    Column i of ``laws`` is (ln(union·2π²/(3δ)), root, linear, power, floor, lag). A column of
    ``errors`` is (c_{k,1}, …, c_{k,4}, k, ln k): of each cell at its own k or, where all cells are
    at the same k (``shared``), of that k and the next ones, their number being a power of 2. Step h
    (from 0) has ``ahead`` − h times the bonus of moves, the last step too if ``printed``.
    """

    room: Room | WideRoom
    alpha: float
    log_constant: float
    ahead: int
    printed: bool
    shared: bool
    laws: FloatArray
    errors: FloatArray


@inlined
def evaluate(laws: FloatArray, errors: FloatArray, first: int, end: int) -> None:
    """Evaluate the laws in some columns (twin: :class:`ldprl.mechanisms.mechanism.ErrorLaw`)."""
    for column in range(first, end):
        errors[5, column] = log_of(errors[4, column])
    for i in range(4):
        for column in range(first, end):
            t = laws[0, i] + 2 * errors[5, column]
            main = laws[1, i] * math.sqrt((errors[4, column] - laws[5, i]) * t) + laws[2, i] * t
            errors[i, column] = max(main, laws[3, i] * t * math.sqrt(t), laws[4, i])


@inlined
def _update_errors(
    shared: bool, laws: FloatArray, errors: FloatArray, reports: FloatArray, users: int
) -> int:
    """Evaluate the laws where k has changed; return the column where k is that of the users."""
    columns: int = errors.shape[1]
    if not shared:
        for cell in range(columns):
            if errors[4, cell] != reports[cell] + 1:
                errors[4, cell] = reports[cell] + 1
                evaluate(laws, errors, cell, cell + 1)
        return 0
    now = users & (columns - 1)
    if errors[4, now] != users + 1:
        for column in range(columns):
            errors[4, column] = users - now + column + 1
        evaluate(laws, errors, 0, columns)
    return now


def optimistic(
    learner: Optimistic,
    noise: Any,
    world: World,
    tally: FloatArray,
    reports: FloatArray,
    arrivals: FloatArray,
    users: int,
    policy: IntArray,
    stream: Array,
) -> bool:
    """Write LDP-OBI's policy; return whether it changed."""
    model, errors, alpha, states = learner.room.model, learner.errors, learner.alpha, world.states
    now = _update_errors(learner.shared, learner.laws, errors, reports, users)
    log_users = errors[5, now] if learner.shared else log_of(users + 1.0)
    log_term = learner.log_constant + 3 * log_users
    width, move_width = 2 * log_term, 14 * states * log_term
    for cell in range(reports.size):
        row, made = cell * world.width, reports[cell]
        at = now if learner.shared else cell
        reward = estimate(noise, row + REWARD, tally[row + REWARD], made)
        visits = estimate(noise, row + VISITS, tally[row + VISITS], made)
        reach = visits + alpha * errors[1, at]
        excess = (alpha + 1) * errors[1, at] + errors[0, at]
        inverse = 1 / reach
        worth = (reward + excess) * inverse + math.sqrt(width * inverse)
        model[cell, NOW] = model[cell, LAST] = worth if reach > 0 else np.inf
        if cell >= world.leading:
            continue
        departures = read_moves(learner.room, noise, world, tally, cell, made)
        reach = departures + alpha * errors[2, at]
        excess = (alpha + 1) * errors[2, at] + states * errors[3, at]
        inverse = 1 / reach
        bonus = excess * inverse + math.sqrt(move_width * inverse)
        model[cell, INVERSE] = inverse if reach > 0 else 0.0
        model[cell, BONUS] = bonus if reach > 0 else np.inf
        if learner.printed:
            model[cell, LAST] += model[cell, BONUS]
    changed: bool = backward(learner.room, world, learner.ahead, 1, policy)
    return changed
