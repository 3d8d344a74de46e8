"""Any policy: what one private bit of the return teaches, from CartPole to recommendations."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from matplotlib.figure import Figure as Picture

from ldprl.figures.figure import Figure
from ldprl.figures.settings import Settings
from studies.figures.any_policy.records import make_table
from studies.figures.any_policy.summary import by_cell, findings, line


def plot(table: pa.Table) -> dict[str, Picture]:
    """Return the share of the gap that each private run closes."""
    private = list(by_cell(table, "private"))
    picture = Picture(figsize=(6.4, 0.3 * len(private) + 0.8), layout="constrained")
    axes = picture.subplots()
    for place, runs in enumerate(private):
        shares = np.array([one["share"] for one in runs])
        axes.plot(shares, np.full(len(shares), place), "|", color="#3d7a5a", markersize=12)
    labels = [f"{name}, ε = {epsilon}" for name, _, epsilon, *_ in map(line, private)]
    axes.set_yticks(range(len(private)), labels)
    axes.invert_yaxis()
    axes.set_xlabel("share of the gap that each run closes")
    return {"": picture}


def lead(settings: Settings) -> str:
    """Return the introduction of the report."""
    return (
        "Users run policies of their own and report one randomized bit of the return each; beside"
        " that random search from the same bits, and the same learner with returns in the clear."
    )


FIGURE = Figure(
    title="Any policy, any environment, one private bit",
    place="Not in the paper",
    question="What is learnt where states cannot be counted, and with how many users?",
    plot=plot,
    findings=findings,
    table=make_table,
    lead=lead,
)
