"""Makes the data of the figure beyond the paper."""

from __future__ import annotations

import pyarrow as pa

from ldprl.figures.beyond.sweep import cells
from ldprl.figures.common.laboratory import Laboratory


def run(laboratory: Laboratory) -> pa.Table:
    """Return a row for each curve, run and checkpoint."""
    return laboratory.table(cells(laboratory.settings))
