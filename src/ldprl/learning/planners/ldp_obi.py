"""The planner of LDP-OBI (algorithm 2 of the paper)."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from ldprl.kernels.arrays import PlanBuffer, Sizes, Sums
from ldprl.kernels.compiling import inlined
from ldprl.kernels.generator import log_of
from ldprl.learning.planners.errors import DEPARTURES, REWARDS, TRANSITIONS, VISITS, error_of
from ldprl.learning.planners.optimism import BONUS, INVERSE, LAST, NOW, Optimist, single_plan
from ldprl.shape import Array, FloatArray

COUNT, LOG, MOVE_COUNT, _ = range(4, 8)
"""Rows of the errors behind c_{k,1}, …, c_{k,4}: k and ln k of rewards, and of transitions."""


class LDPOBIPlanner(NamedTuple):
    """LDP-OBI: its constants, and the mechanism's errors where they are known.

    A column of ``errors`` has the errors of one cell, at its own k. Where all cells are at the same
    k, ``shared`` has a column for that k and the next ones, their number being a power of 2. Step h
    (from 0) has ``ahead`` − h times the bonus of transitions, the last step too if ``printed``.
    """

    sizes: Sizes
    values: FloatArray
    rows: FloatArray
    alpha: float
    log_constant: float
    ahead: int
    printed: bool
    laws: FloatArray
    errors: FloatArray
    shared: FloatArray

    def plan(self, sums: Sums, stream: Array, draft: PlanBuffer) -> bool:
        """Write the optimistic policy."""
        users, alpha, states = sums.users[0], self.alpha, self.sizes.states
        rows = self.rows
        alike = sums.alike[0] == 1
        if alike:
            now = _next_errors(self.laws, self.shared, users)
            log_users, errors = self.shared[LOG, now], self.shared
        else:
            now = 0
            _cell_errors(self.laws, self.errors, sums.reports, sums.move_reports)
            log_users, errors = log_of(users + 1.0), self.errors
        log_term = self.log_constant + 3 * log_users
        width, move_width = 2 * log_term, 14 * states * log_term
        for cell in range(self.sizes.cells):
            at = now if alike else cell
            reach = sums.visits[cell] + alpha * errors[VISITS, at]
            excess = (alpha + 1) * errors[VISITS, at] + errors[REWARDS, at]
            inverse = 1 / reach
            total = (sums.rewards[cell] + excess) * inverse + math.sqrt(width * inverse)
            rows[cell, NOW] = rows[cell, LAST] = total if reach > 0 else np.inf
        for cell in range(self.sizes.leading):
            at = now if alike else cell
            departures = 0.0
            for target in range(states):
                departures += sums.transitions[cell, target]
            reach = departures + alpha * errors[DEPARTURES, at]
            excess = (alpha + 1) * errors[DEPARTURES, at] + states * errors[TRANSITIONS, at]
            inverse = 1 / reach
            bonus = excess * inverse + math.sqrt(move_width * inverse)
            rows[cell, INVERSE] = inverse if reach > 0 else 0.0
            rows[cell, BONUS] = bonus if reach > 0 else np.inf
            if self.printed:
                rows[cell, LAST] += rows[cell, BONUS]
        model = Optimist(self.sizes, self.ahead, 1, rows, sums.transitions)
        return single_plan(model, self.sizes, self.values, draft, 1.0)


@inlined
def _evaluate(
    laws: FloatArray, errors: FloatArray, blocks: tuple[int, int], k: int, first: int, end: int
) -> None:
    """Evaluate some laws in some columns, at the counts in row ``k``; ln k goes to the next row.

    Columns are unsigned, as numba wraps negative ones around, which keeps loops from vectorising.
    """
    counts, logs = errors[k], errors[k + 1]
    for column in range(np.uint64(first), np.uint64(end)):
        logs[column] = log_of(counts[column])
    for block in range(blocks[0], blocks[1]):
        row = errors[block]
        for column in range(np.uint64(first), np.uint64(end)):
            row[column] = error_of(laws, block, counts[column], logs[column])


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
        _evaluate(laws, errors, (0, 4), COUNT, now, end)
    return now


@inlined
def _cell_errors(
    laws: FloatArray, errors: FloatArray, reports: FloatArray, move_reports: FloatArray
) -> None:
    """Evaluate the laws for each cell whose number of reports has changed."""
    for cell in range(reports.size):
        if errors[COUNT, cell] != reports[cell] + 1:
            errors[COUNT, cell] = reports[cell] + 1
            _evaluate(laws, errors, (0, 2), COUNT, cell, cell + 1)
    for cell in range(move_reports.size):
        if errors[MOVE_COUNT, cell] != move_reports[cell] + 1:
            errors[MOVE_COUNT, cell] = move_reports[cell] + 1
            _evaluate(laws, errors, (2, 4), MOVE_COUNT, cell, cell + 1)
