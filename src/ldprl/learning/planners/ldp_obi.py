"""The planner of LDP-OBI (algorithm 2 of the paper)."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from ldprl.kernels.arrays import Draft, Sizes, Sums
from ldprl.kernels.compiling import inlined
from ldprl.kernels.generator import log_of
from ldprl.learning.planners.errors import (
    DEPARTURES,
    REWARDS,
    TRANSITIONS,
    VISITS,
    error_of,
)
from ldprl.learning.planners.optimism import Bench, Optimist, single_plan
from ldprl.shape import Array, FloatArray

COUNT, LOG, MOVE_COUNT, MOVE_LOG = range(4, 8)
"""Rows of the errors behind c_{k,1}, …, c_{k,4}: k and ln k of rewards, and of transitions."""


class LDPOBIPlanner(NamedTuple):
    """LDP-OBI: its constants, and the mechanism's errors where they are known.

    A column of ``errors`` has the errors of one cell, at its own k. Where all cells are at the same
    k, ``shared`` has a column for that k and the next ones, their number being a power of 2. Step h
    (from 0) has ``ahead`` − h times the bonus of transitions, the last step too if ``printed``.
    """

    sizes: Sizes
    values: FloatArray
    bench: Bench
    alpha: float
    log_constant: float
    ahead: int
    printed: bool
    laws: FloatArray
    errors: FloatArray
    shared: FloatArray

    def plan(self, sums: Sums, stream: Array, draft: Draft) -> bool:
        """Write the optimistic policy."""
        users, alpha, states = sums.users[0], self.alpha, self.sizes.states
        bench = self.bench
        alike = True
        for cell in range(self.sizes.cells):
            alike &= sums.reports[cell] == users
        for cell in range(self.sizes.leading):
            alike &= sums.move_reports[cell] == users
        if alike:
            now = _next_errors(self.laws, self.shared, users)
            log_users, errors = self.shared[LOG, now], self.shared
        else:
            now = 0
            _cell_errors(self.laws, self.errors, sums)
            log_users, errors = log_of(users + 1.0), self.errors
        log_term = self.log_constant + 3 * log_users
        width, move_width = 2 * log_term, 14 * states * log_term
        for cell in range(self.sizes.cells):
            at = now if alike else cell
            reach = sums.visits[cell] + alpha * errors[VISITS, at]
            excess = (alpha + 1) * errors[VISITS, at] + errors[REWARDS, at]
            inverse = 1 / reach
            total = (sums.rewards[cell] + excess) * inverse + math.sqrt(width * inverse)
            bench.now[cell] = bench.last[cell] = total if reach > 0 else np.inf
        for cell in range(self.sizes.leading):
            at = now if alike else cell
            departures = 0.0
            for target in range(states):
                departures += sums.transitions[cell, target]
            reach = departures + alpha * errors[DEPARTURES, at]
            excess = (alpha + 1) * errors[DEPARTURES, at] + states * errors[TRANSITIONS, at]
            inverse = 1 / reach
            bonus = excess * inverse + math.sqrt(move_width * inverse)
            bench.inverse[cell] = inverse if reach > 0 else 0.0
            bench.bonus[cell] = bonus if reach > 0 else np.inf
            if self.printed:
                bench.last[cell] += bench.bonus[cell]
        model = Optimist(
            self.sizes, self.ahead, 1, bench.now, bench.last, bench.inverse, bench.bonus,
            sums.transitions,
        )  # fmt: skip
        return single_plan(model, self.sizes, self.values, draft, True)


@inlined
def _evaluate(laws: FloatArray, errors: FloatArray, first: int, end: int) -> None:
    """Evaluate the laws in some columns, at the k that stand there."""
    for column in range(first, end):
        errors[LOG, column] = log_of(errors[COUNT, column])
        errors[MOVE_LOG, column] = log_of(errors[MOVE_COUNT, column])
    for block in range(2):
        for column in range(first, end):
            errors[block, column] = error_of(
                laws, block, errors[COUNT, column], errors[LOG, column]
            )
    for block in range(2, 4):
        for column in range(first, end):
            errors[block, column] = error_of(
                laws, block, errors[MOVE_COUNT, column], errors[MOVE_LOG, column]
            )


@inlined
def _next_errors(laws: FloatArray, errors: FloatArray, users: int) -> int:
    """Evaluate the laws at k = users + 1 where that is not done yet; return the column.

    While users come one by one, the next k's are evaluated together, which vectorises.
    """
    columns: int = errors.shape[1]
    now = users & (columns - 1)
    if errors[COUNT, now] != users + 1:
        one_by_one = errors[COUNT, (users - 1) & (columns - 1)] == users
        end = columns if one_by_one else now + 1
        for column in range(now, end):
            errors[COUNT, column] = users - now + column + 1
            errors[MOVE_COUNT, column] = errors[COUNT, column]
        _evaluate(laws, errors, now, end)
    return now


@inlined
def _cell_errors(laws: FloatArray, errors: FloatArray, sums: Sums) -> None:
    """Evaluate the laws for each cell whose number of reports has changed."""
    for cell in range(errors.shape[1]):
        count = sums.reports[cell] + 1
        moves = sums.move_reports[cell] + 1 if cell < sums.move_reports.size else 1.0
        if errors[COUNT, cell] != count or errors[MOVE_COUNT, cell] != moves:
            errors[COUNT, cell], errors[MOVE_COUNT, cell] = count, moves
            _evaluate(laws, errors, cell, cell + 1)
