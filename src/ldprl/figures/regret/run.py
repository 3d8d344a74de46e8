"""Makes the data of figure 1."""

from __future__ import annotations

import pyarrow as pa

from ldprl.figures.common.laboratory import Laboratory
from ldprl.figures.regret.sweep import cells


def run(laboratory: Laboratory) -> pa.Table:
    """Return a row for each curve, run and checkpoint."""
    return laboratory.table(cells(laboratory.settings))
