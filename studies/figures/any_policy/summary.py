"""What the runs say, a line for each cell."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Any

import numpy as np
import pyarrow as pa

from ldprl.figures.figure import Findings, Grid
from ldprl.figures.numerals import number, power
from ldprl.simulation.regret import standard_error
from studies.figures.any_policy.problems import PROBLEMS

HEADS = (
    "problem",
    "learner",
    "ε",
    "users",
    "runs",
    "share of the gap",
    "share, worst",
    "stuck",
    "users to 90%, median",
    "users to 90%, worst",
    "return of the policy",
    "regret of a run",
)
_STUCK = 0.5
"""A run that closed less of the gap is called stuck."""
Run = dict[str, Any]


def by_cell(table: pa.Table, who: str | None = None) -> Iterator[list[Run]]:
    """Yield the runs of each cell, or of each cell of one kind of learner."""
    rows = [row for row in table.to_pylist() if who in (None, row["who"])]
    for _, runs in groupby(rows, key=lambda row: (row["problem"], row["who"], row["epsilon"])):
        yield list(runs)


def line(runs: Sequence[Run]) -> tuple[str, ...]:
    """Return the line of a cell."""
    first = runs[0]
    shares = np.array([one["share"] for one in runs])
    enough = [np.inf if one["enough"] is None else one["enough"] for one in runs]
    titles = {problem.name: problem.title for problem in PROBLEMS}
    lost = np.array([one["regret"] * one["users"] for one in runs])
    return (
        titles[first["problem"]],
        first["who"],
        "" if first["epsilon"] is None else f"{first['epsilon']:g}",
        power(first["users"]),
        str(len(runs)),
        mean_text(shares, 3),
        f"{shares.min():.3f}",
        str(int((shares < _STUCK).sum())),
        users_text(float(np.median(enough))),
        users_text(max(enough)),
        mean_text(np.array([one["worth"] for one in runs]), 4, digits=True),
        f"{number(float(lost.mean()))} ± {number(_error(lost))}",
    )


def _error(values: Any) -> float:
    return float(standard_error(values)) if len(values) > 1 else 0.0


def mean_text(values: Any, places: int, digits: bool = False) -> str:
    """Return the mean and its standard error, to so many places, or digits that count."""
    mean, error = float(values.mean()), _error(values)
    if digits:
        return f"{mean:.{places}g} ± {number(error)}"
    return f"{mean:,.{places}f} ± {error:.{places}f}"


def users_text(count: float) -> str:
    """Return a number of users; infinite is not reached."""
    return f"{round(count):,}" if np.isfinite(count) else "not reached"


def findings(table: pa.Table) -> Findings:
    """Return the table for readers, and how many cells reached 0.9."""
    cells, private = list(by_cell(table)), list(by_cell(table, "private"))
    shares = [float(np.mean([one["share"] for one in runs])) for runs in private]
    reached = sum(share >= 0.9 for share in shares)
    commits = sorted({one["commit"] for runs in cells for one in runs})
    said = (
        f"Of {len(private)} private cells {reached} close at least 90% of the gap on average;"
        f" the least is {min(shares, default=0.0):.2f}. Code: {', '.join(commits)}."
    )
    return Findings([said], [Grid("All cells", HEADS, [line(runs) for runs in cells], False)])
