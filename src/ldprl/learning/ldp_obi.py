"""LDP-OBI: optimistic backward induction on private sums (algorithm 2 of the paper)."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from ldprl.errors import above, probability
from ldprl.kernels.arrays import PlanBuffer, Sizes, Sums, plan_buffer_for, sizes_of
from ldprl.kernels.compiling import inlined
from ldprl.kernels.generator import log_of
from ldprl.learning.compiled import values_for
from ldprl.learning.learner import check_mechanism
from ldprl.learning.optimism import (
    INVERSE,
    LAST_WIDTH,
    MEAN,
    MOVE_WIDTH,
    REWARD_WIDTH,
    Optimist,
    OptimisticLearner,
    rows_for,
    single_plan,
)
from ldprl.mechanisms.error_laws import ErrorLaw, ErrorLaws, error_bound
from ldprl.mechanisms.mechanism import Mechanism
from ldprl.shape import Array, FloatArray
from ldprl.statistics import Statistics

REWARDS, VISITS, DEPARTURES, TRANSITIONS = range(4)
"""Columns of the laws, and rows of the errors: c_{k,1}, …, c_{k,4} of the paper."""
_COUNT, _LOG, _MOVE_COUNT, _ = range(4, 8)
"""Rows behind them: k and ln k of rewards, and of transitions."""
_PLANS_AHEAD = 256
"""How many k's the errors are evaluated for at once while users come one by one: a power of 2."""
_bound = inlined(error_bound)


class LDPOBI(OptimisticLearner):
    """Optimism in the face of sampling error and of the mechanism's noise.

    r̃_k = R̃/(Ñ^r + αc_2) and p̃_k = Ñ^p/(Σ_{s'} Ñ^p + αc_3) (equation 3), with the widths β^r and
    β^p of proposition 4. The noise of a cell grows with the number of reports decoded into it, so
    its c_{k,i} is taken at k = reports + 1, at failure probability 3δ/(2π²k²). A cell about which
    nothing is known has r̃ = p̃ = 0 and β = ∞.

    Parameters
    ----------
    mechanism
        The randomizer that made the reports; its ``constants`` govern the bonus too. ``paper``:
        b_h = (H − h + 1)·β^p + β^r as printed. ``sound``: (H − h)·β^p, which is enough, as
        V_{h+1} ≤ H − h; nothing follows the last step.
    failure_probability
        δ: the confidence set fails with at most this probability, at all times together.
    alpha
        α > 1: how far the denominators are pushed from zero.
    """

    name = "ldp-obi"
    title = "LDP-OBI"
    colour = "#0072b2"
    promise = "regret bound (the paper's theorem, corrected constants)"
    forecast_with = ("laplace",)
    summary = "LDP-OBI, the paper's optimistic learner, with any mechanism"
    private = True
    mechanism: Mechanism

    def __init__(
        self, mechanism: Mechanism, *, failure_probability: float = 0.1, alpha: float = 2.0
    ) -> None:
        self.mechanism = check_mechanism(mechanism)
        self.failure = probability("failure_probability", failure_probability, zero=False)
        self.alpha = above("alpha", alpha, 1)

    def planner(self, statistics: Statistics, rng: np.random.Generator) -> LDPOBIPlanner:
        """Return the compiled planner."""
        shape, printed = statistics.shape, self.mechanism.constants == "paper"
        cells = shape.states * shape.actions * shape.horizon
        return LDPOBIPlanner(
            sizes=sizes_of(shape),
            buffer=plan_buffer_for(shape, 1),
            values=values_for(shape),
            rows=rows_for(shape),
            alpha=self.alpha,
            # ln(4π²SAHk³/(3δ)), the union over cells, visits and episodes, without its ln k³.
            log_constant=math.log(4 * math.pi**2 * cells / (3 * self.failure)),
            # With one step there is no β^p, as nothing is learnt about moves.
            printed=printed and shape.horizon > 1,
            laws=law_numbers(self.mechanism.error_laws, self.failure),
            errors=np.zeros((8, shape.cells)),
            shared=np.zeros((8, _PLANS_AHEAD)),
        )


class LDPOBIPlanner(NamedTuple):
    """LDP-OBI: its constants, and the mechanism's errors where they are known.

    A column of ``errors`` has the errors of one cell, at its own k. Where all cells are at the same
    k, ``shared`` has a column for that k and the next ones, their number being a power of 2.
    ``printed`` is whether the bonus is the paper's as printed.
    """

    sizes: Sizes
    buffer: PlanBuffer
    values: FloatArray
    rows: FloatArray
    alpha: float
    log_constant: float
    printed: bool
    laws: FloatArray
    errors: FloatArray
    shared: FloatArray

    def bonus(self, step: int, reward_width: float, move_width: float) -> float:
        """Return b_h = β^r + (H − h)·β^p at step h − 1, or (H − h + 1)·β^p as printed."""
        steps_left = self.sizes.horizon - step - (0 if self.printed else 1)
        return reward_width + steps_left * move_width

    def plan(self, sums: Sums, stream: Array) -> bool:
        """Write the optimistic policy."""
        users, alpha, states = sums.users[0], self.alpha, self.sizes.states
        rows = self.rows
        alike = sums.alike[0] == 1
        if alike:
            now = _next_errors(self.laws, self.shared, users)
            log_users, errors = self.shared[_LOG, now], self.shared
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
            beta = excess * inverse + math.sqrt(width * inverse)
            rows[cell, MEAN] = sums.rewards[cell] * inverse if reach > 0 else 0.0
            rows[cell, REWARD_WIDTH] = beta if reach > 0 else np.inf
        for cell in range(self.sizes.leading):
            at = now if alike else cell
            departures = 0.0
            for target in range(states):
                departures += sums.transitions[cell, target]
            reach = departures + alpha * errors[DEPARTURES, at]
            excess = (alpha + 1) * errors[DEPARTURES, at] + states * errors[TRANSITIONS, at]
            inverse = 1 / reach
            beta = excess * inverse + math.sqrt(move_width * inverse)
            rows[cell, INVERSE] = inverse if reach > 0 else 0.0
            rows[cell, MOVE_WIDTH] = beta if reach > 0 else np.inf
            if self.printed:
                # As printed, one model for all steps has β^p at the last step too.
                rows[cell, LAST_WIDTH] = rows[cell, MOVE_WIDTH]
        return single_plan(Optimist(self, sums.transitions), self, 1.0)


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
    if errors[_COUNT, now] != users + 1:
        one_by_one = errors[_COUNT, (users - 1) & (columns - 1)] == users
        end = columns if one_by_one else now + 1
        for column in range(now, end):
            errors[_COUNT, column] = users - now + column + 1
        _evaluate(laws, errors, (0, 4), _COUNT, now, end)
    return now


@inlined
def _cell_errors(
    laws: FloatArray, errors: FloatArray, reports: FloatArray, move_reports: FloatArray
) -> None:
    """Evaluate the laws for each cell whose number of reports has changed."""
    for cell in range(reports.size):
        if errors[_COUNT, cell] != reports[cell] + 1:
            errors[_COUNT, cell] = reports[cell] + 1
            _evaluate(laws, errors, (0, 2), _COUNT, cell, cell + 1)
    for cell in range(move_reports.size):
        if errors[_MOVE_COUNT, cell] != move_reports[cell] + 1:
            errors[_MOVE_COUNT, cell] = move_reports[cell] + 1
            _evaluate(laws, errors, (2, 4), _MOVE_COUNT, cell, cell + 1)


def law_numbers(laws: ErrorLaws, failure: float) -> FloatArray:
    """Return the laws as an array: a column (ln(2π²·union/(3δ)), root, linear, power, floor, lag).

    The k-th sums may fail with probability δ_k = 3δ/(2π²k²), and Σ_k 1/k² = π²/6: together they
    fail with probability at most δ/4. With the first number, ln(union/δ_k) is that + 2·ln k.
    """

    def column(law: ErrorLaw) -> tuple[float, ...]:
        union = math.log(law.union * 2 * math.pi**2 / (3 * failure))
        return union, law.root, law.linear, law.power, law.floor, float(law.lag)

    blocks = (laws.rewards, laws.visits, laws.departures, laws.transitions)
    return np.array([column(law) for law in blocks]).T.copy()


@inlined
def error_of(laws: FloatArray, block: int, count: float, log_k: float) -> float:
    """Return the error of a sum of ``count`` − 1 reports that may fail with 3δ/(2π²k²)."""
    t = laws[0, block] + 2 * log_k
    bound: float = _bound(
        count - laws[5, block], t, laws[1, block], laws[2, block], laws[3, block], laws[4, block]
    )
    return bound
