"""Public knowledge in the arrays of a planner."""

from __future__ import annotations

import numpy as np

from ldprl.kernels.compiling import kernel
from ldprl.shape import BoolArray, FloatArray
from ldprl.structure import Structure


def constraint_arrays(structure: Structure | None, states: int) -> tuple[FloatArray, BoolArray]:
    """Return fixed rewards (one for each cell) and possible transitions (a row for each cell).

    Both are empty where nothing is known of them.
    """
    fixed, possible = np.zeros(0), np.zeros((0, states), dtype=bool)
    if structure is None:
        return fixed, possible
    if structure.admissible is not None or structure.rewards is not None:
        fixed = structure.fixed_rewards().ravel()
    if structure.successors is not None:
        possible = structure.possible_moves().reshape(-1, states)
    return fixed, possible


@kernel
def forget_impossible(possible: BoolArray, row: FloatArray) -> None:
    """Set what is impossible to 0 in a distribution, and let the rest sum to 1 again."""
    total, count = 0.0, 0
    for s in range(row.size):
        if possible[s]:
            total += row[s]
            count += 1
    for s in range(row.size):
        if not possible[s]:
            row[s] = 0.0
        elif total > 0:
            row[s] /= total
        else:
            row[s] = 1 / count
