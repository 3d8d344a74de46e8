"""Backward induction, which the optimistic learners share.

Twin: :func:`ldprl.learning.planning.optimistic_plan`.
"""

from __future__ import annotations

import numpy as np

from ldprl.shape import FloatArray, IntArray
from ldprl.simulation.kernels.arrays import World
from ldprl.simulation.kernels.options import inlined

NOW, LAST, INVERSE, BONUS, CHANCES = range(5)
"""Columns of an optimistic model, a row a cell.

What a step is worth, with its bonus; what it is worth if it is the last; 1/Ñ^p(s,a); what is added
for each step ahead; and moves to each state, which times 1/Ñ^p(s,a) are chances. All may be
infinite where nothing is known.
"""

ONE, TWO, THREE, FOUR = np.uint64(1), np.uint64(2), np.uint64(3), np.uint64(4)


@inlined
def product(
    rows: FloatArray, row: int, first: int, values: FloatArray, step: int, states: int
) -> float:
    """Return Σ_s' rows(row, first + s')·values(step, s'), four terms at a time.

    Rows are short: the compiler's own way to sum side by side begins at more terms than they have.
    """
    a, b, c, d = 0.0, 0.0, 0.0, 0.0
    row, at, step, end = np.uint64(row), np.uint64(first), np.uint64(step), np.uint64(states)
    i = np.uint64(0)
    while i + FOUR <= end:
        a += rows[row, at + i] * values[step, i]
        b += rows[row, at + i + ONE] * values[step, i + ONE]
        c += rows[row, at + i + TWO] * values[step, i + TWO]
        d += rows[row, at + i + THREE] * values[step, i + THREE]
        i += FOUR
    while i < end:
        a += rows[row, at + i] * values[step, i]
        i += ONE
    return (a + b) + (c + d)


@inlined
def backward(
    model: FloatArray, values: FloatArray, world: World, ahead: int, slope: int, policy: IntArray
) -> bool:
    """Plan with truncated optimism; step h (from 0) has ``ahead`` − ``slope``·h move bonuses."""
    states, actions, horizon = world.states, world.actions, world.horizon
    changed = False
    for step in range(horizon - 1, -1, -1):
        factor, most = float(ahead - slope * step), float(horizon - step)
        for state in range(states):
            first = step * world.stride + state * actions
            best, chosen = -np.inf, 0
            for action in range(actions):
                cell = first + action
                if step + 1 == horizon:
                    total = model[cell, LAST]
                else:
                    future = product(model, cell, CHANCES, values, step + 1, states)
                    total = model[cell, NOW] + factor * model[cell, BONUS]
                    total += model[cell, INVERSE] * future
                if total > best:
                    best, chosen = total, action
            values[step, state] = min(best, most)
            if policy[step * states + state] != chosen:
                policy[step * states + state] = chosen
                changed = True
    return changed
