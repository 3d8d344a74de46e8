"""Optimistic models: what a cell is worth with its bonus, as the optimistic learners share it."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ldprl.kernels.arrays import PlanBuffer, Sizes
from ldprl.kernels.compiling import inlined
from ldprl.kernels.values import FREE, expected, spliced_backward
from ldprl.shape import FloatArray, Shape

NOW, LAST, INVERSE, BONUS = range(4)
"""Columns of an optimistic model that has a row for each cell."""


class Optimist(NamedTuple):
    """A model with a bonus that does not depend on the values (equation 4 of the paper).

    Q_h(s,a) = now + (ahead − slope·h)·bonus + inverse·Σ counts(s')·V_{h+1}(s') with h from 0, and
    ``last`` at the last step: the columns of ``rows``. p̃ = counts·inverse is kept in its factors:
    it is cheaper to scale the expectation than the model. All may be infinite where nothing is
    known.
    """

    sizes: Sizes
    ahead: int
    slope: int
    rows: FloatArray
    counts: FloatArray

    def ready(self, step: int, after: FloatArray) -> None:
        """Do nothing."""

    def worth(self, cell: int, step: int, after: FloatArray) -> float:
        """Return the optimistic Q-value."""
        rows = self.rows
        if step + 1 == self.sizes.horizon:
            final: float = rows[cell, LAST]
            return final
        total: float = rows[cell, NOW] + (self.ahead - self.slope * step) * rows[cell, BONUS]
        total += rows[cell, INVERSE] * expected(self.counts[cell], after)
        return total


def rows_for(shape: Shape) -> FloatArray:
    """Return room for the columns of an optimistic model."""
    return np.zeros((shape.cells, 4))


def values_for(shape: Shape) -> FloatArray:
    """Return room for the values V_h(s)."""
    return np.zeros((shape.horizon + 1, shape.states))


@inlined
def single_plan(
    model: Any, sizes: Sizes, values: FloatArray, draft: PlanBuffer, cap: float
) -> bool:
    """Write the best policy of a model as the only assignment; return whether it changed."""
    draft.used[0], draft.shares[0] = 1, 1.0
    return spliced_backward(model, sizes, values, draft.policies[0], FREE, cap)
