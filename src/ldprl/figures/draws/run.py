"""Makes the data of the figure on draws: one row a curve."""

from __future__ import annotations

import pyarrow as pa

from ldprl.figures.common.curves import curves_of
from ldprl.figures.common.laboratory import Laboratory
from ldprl.figures.draws.sweep import cells_in, places


def run(laboratory: Laboratory) -> pa.Table:
    """Return the regret after the last episode, of every curve in every MDP."""
    rows = [
        {
            "environment": curve.environment,
            "learner": curve.learner,
            "mechanism": curve.mechanism,
            "constants": curve.constants,
            "epsilon": curve.epsilon,
            "mean": curve.final,
            "least": float(curve.last.min()),
            "most": float(curve.last.max()),
            "exponent": curve.exponent,
        }
        for place in places(laboratory.settings)
        for curve in curves_of(laboratory.table(cells_in(laboratory.settings, place)))
    ]
    return pa.Table.from_pylist(rows)
