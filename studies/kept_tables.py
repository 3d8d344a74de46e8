"""Tables of pages that are made of what studies found (``studies/data``)."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any

import pyarrow as pa

from ldprl.figures.figure import Grid
from ldprl.figures.numerals import number
from studies.figures.any_policy import published, summary
from studies.figures.any_policy.goals import goals
from studies.keep import Kept, kept
from studies.table import Table


def _table(heads: Sequence[str], rows: Sequence[Sequence[str]], of: Kept) -> Table:
    changed = f"The code of {', '.join(of.changed)} has changed since." if of.changed else ""
    return Table(heads, rows, of.command, [of.commit], [of.machine], changed)


def _mean(row: dict[str, Any]) -> str:
    return number(row["mean"]) + (f" ± {number(row['error'])}" if row["error"] else "")


def limit_factors() -> Table:
    """Return the regret of LDP-EVI over the bound, and what it is the product of."""
    of = kept("limit")
    heads = ("world", "ε", "regret", "worst run", "bound", "ratio", "questions ×", "widths ×")
    factors = ("worst", "bound", "ratio", "questions", "widths", "exploration")
    rows = [
        (row["world"], f"{row['epsilon']:g}", _mean(row), *(number(row[name]) for name in factors))
        for row in of.rows
        if row["learner"] == "ldp-evi"
    ]
    return _table((*heads, "exploration ×"), rows, of)


def guard(epsilon: float = 2.0) -> Table:
    """Return LDP-EVI beside itself without its guard."""
    of = kept("limit")
    here = [row for row in of.rows if row["epsilon"] == epsilon]
    rows = []
    for world in dict.fromkeys(row["world"] for row in here):
        pair = {row["learner"]: row for row in here if row["world"] == world}
        mine, bare = pair["ldp-evi"], pair["ldp-evi, no guard"]
        rows.append((world, _mean(mine), number(mine["worst"]), _mean(bare), number(bare["worst"])))
    return _table(("world", "LDP-EVI", "worst", "no guard", "worst of these"), rows, of)


def ablation() -> Table:
    """Return what each idea of LDP-EVI gives."""
    of = kept("ablation")
    rows = [
        (row["idea"], _mean(row), number(row["median"]), number(row["worst"])) for row in of.rows
    ]
    return _table(("", "mean regret", "median", "worst run"), rows, of)


def crowds() -> Table:
    """Return total regret with a relay and without."""
    of = kept("crowd-regret")
    rows = [
        (
            row["size"],
            row["learner"],
            f"{row['central_epsilon']:g}",
            f"{row['crowd']:,}" if row["crowd"] else "none",
            f"{row['local_epsilon']:g}",
            _mean(row),
            number(row["worst"]),
        )
        for row in of.rows
    ]
    heads = ("size", "learner", "central ε", "crowd", "ε of a report", "mean regret", "worst draw")
    return _table(heads, rows, of)


def sensitivity() -> Table:
    """Return regret by constant: a line for each value."""
    of = kept("sensitivity")
    rows = [
        (
            f"`{row['constant']}`",
            f"**{row['value']:g}**" if row["chosen"] else f"{row['value']:g}",
            row["problem"],
            _mean(row),
            number(row["worst"]),
        )
        for row in of.rows
    ]
    return _table(("constant", "value", "problem", "mean regret", "worst run"), rows, of)


def any_policy() -> Table:
    """Return the cells of the study of any policy."""
    return _of_any_policy(lambda runs: summary.findings(runs).grids[0])


def any_policy_goals() -> Table:
    """Return its goals beside what came out."""
    return _of_any_policy(goals)


def _of_any_policy(made: Callable[[pa.Table], Grid]) -> Table:
    """Return a table of the runs of that study, of which each has the commit of its code."""
    document = json.loads(published.DATA.read_text(encoding="utf-8"))
    runs = document["runs"]
    grid = made(pa.table(runs))
    return Table(grid.heads, grid.rows, document["command"], sorted(set(runs["commit"])), [])


KEPT: dict[str, Callable[[], Table]] = {
    "limit-factors": limit_factors,
    "guard": guard,
    "ablation": ablation,
    "crowds": crowds,
    "sensitivity": sensitivity,
    "any-policy": any_policy,
    "any-policy-goals": any_policy_goals,
}
