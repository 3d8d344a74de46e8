"""A figure of one's own: how often randomized response keeps the truth."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from matplotlib.figure import Figure as Picture

from ldprl.figures.cells import CellRunner
from ldprl.figures.figure import Figure, Findings


def table(runner: CellRunner) -> pa.Table:
    """Return e^ε/(e^ε + 1) for some ε."""
    epsilon = np.linspace(0.0, 4.0, 9)
    return pa.table({"epsilon": epsilon, "kept": 1 / (1 + np.exp(-epsilon))})


def plot(table: pa.Table) -> dict[str, Picture]:
    """Return its curve."""
    picture = Picture()
    picture.subplots().plot(table["epsilon"], table["kept"])
    return {"": picture}


def findings(table: pa.Table) -> Findings:
    """Return the report's sentence."""
    return Findings([f"At ε = 4 a bit is kept with probability {table['kept'][-1].as_py():.3f}."])


FIGURE = Figure(
    title="Randomized response",
    place="Not in the paper",
    question="How often is a bit kept?",
    plot=plot,
    findings=findings,
    table=table,
)
