"""How much regret depends on the constants that no proof fixes: each is changed by itself."""

from __future__ import annotations

import importlib
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pyarrow as pa
from matplotlib.figure import Figure as Picture

from ldprl.figures.cells import CellRunner
from ldprl.figures.drawing import QUIET, headline, log_axis, panels
from ldprl.figures.figure import Figure, Findings, Grid
from ldprl.figures.numerals import number
from ldprl.figures.settings import Settings

FACTORS = (0.25, 0.5, 1.0, 2.0, 4.0)
_ROOT = Path(__file__).parents[3]
_COLOURS = ("#1f7a6d", "#9c4a1a")


@dataclass(frozen=True)
class Constant:
    """A constant of a learner; times ``FACTORS`` it is at most ``most``."""

    module: str
    name: str
    learner: str
    most: float = float("inf")

    @property
    def value(self) -> float:
        """What the code has."""
        return float(getattr(importlib.import_module(self.module), self.name))

    def values(self) -> list[float]:
        """Return what is tried."""
        return [self.value * one for one in FACTORS if self.value * one <= self.most]


CONSTANTS = (
    Constant("ldprl.learning.ldp_ts", "_WIDE", "ldp-ts"),
    Constant("ldprl.learning.ldp_ts", "_WIDE_SHARE", "ldp-ts", 1.0),
    Constant("ldprl.learning.ldp_returns", "_FORGETTING", "ldp-returns"),
    Constant("ldprl.learning.ldp_returns", "_TILTED", "ldp-returns"),
    Constant("ldprl.learning.ldp_es", "_FIRST", "ldp-es"),
    Constant("ldprl.learning.ldp_es", "_CALM", "ldp-es"),
    Constant("ldprl.learning.ldp_es", "_LEFT_OUT", "ldp-es", 1.0),
)


def make_table(laboratory: CellRunner) -> pa.Table:
    """Return a row for each constant, value and problem; what is finished is kept."""
    folder = laboratory.folder / "sensitivity"
    folder.mkdir(parents=True, exist_ok=True)
    tried = [(one, value) for one in CONSTANTS for value in one.values()]
    with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        found = list(pool.map(partial(_kept, folder), *zip(*tried, strict=True)))
    rows = [
        {
            "constant": f"{one.module.removeprefix('ldprl.learning.')}.{one.name}",
            "learner": one.learner,
            "value": value,
            "chosen": value == one.value,
            "problem": problem,
            "runs": sum(map(len, regrets)),
            "mean": float(np.mean([np.mean(each) for each in regrets])),
            "error": _error(regrets),
            "worst": max(map(max, regrets)),
        }
        for (one, value), problems in zip(tried, found, strict=True)
        for problem, regrets in problems.items()
    ]
    return pa.Table.from_pylist(rows)


def _error(regrets: list[list[float]]) -> float:
    """Return the standard error of the mean, over draws where there are several."""
    means = np.array([np.mean(each) for each in regrets] if len(regrets) > 1 else regrets[0])
    return float(means.std(ddof=1) / np.sqrt(len(means)))


def _kept(folder: Path, one: Constant, value: float) -> dict[str, list[list[float]]]:
    file = folder / f"{one.module.rpartition('.')[2]}{one.name}-{value:g}.json"
    if not file.is_file():
        file.write_text(_run(one, value), encoding="utf-8")
    problems: dict[str, list[list[float]]] = json.loads(file.read_text(encoding="utf-8"))
    return problems


def _run(one: Constant, value: float) -> str:
    command = [sys.executable, "-m", "studies.figures.sensitivity.one"]
    command += [one.module, one.name, repr(value), one.learner]
    with TemporaryDirectory() as cache:
        changed = {**os.environ, "NUMBA_CACHE_DIR": cache}
        done = subprocess.run(
            command, env=changed, cwd=_ROOT, capture_output=True, text=True, check=True
        )
    return done.stdout


def findings(table: pa.Table) -> Findings:
    """Return the whole table."""
    rows = [
        (
            row["constant"],
            f"**{row['value']:g}**" if row["chosen"] else f"{row['value']:g}",
            row["problem"],
            str(row["runs"]),
            f"{number(row['mean'])} ± {number(row['error'])}",
            number(row["worst"]),
        )
        for row in table.to_pylist()
    ]
    heads = ("constant", "value", "problem", "runs", "mean regret", "worst run")
    return Findings([], [Grid("Regret by constant", heads, rows, folded=False)])


def plot(table: pa.Table) -> dict[str, Picture]:
    """Draw a panel for each constant: mean and two standard errors, a colour for each problem."""
    rows = table.to_pylist()
    names = list(dict.fromkeys(row["constant"] for row in rows))
    picture, axes = panels(2, -(-len(names) // 2), width=3.4, height=2.9, sharey=False)
    flat = [panel for line in axes for panel in line]
    for panel, name in zip(flat, names, strict=False):
        here = [row for row in rows if row["constant"] == name]
        panel.set_xscale("log")
        log_axis(panel, "y")
        for colour, problem in zip(_COLOURS, _problems(here), strict=False):
            mine = [row for row in here if row["problem"] == problem]
            panel.errorbar(
                [row["value"] for row in mine],
                [row["mean"] for row in mine],
                yerr=[2 * row["error"] for row in mine],
                fmt="o-",
                color=colour,
                label=problem,
                capsize=2,
                markersize=4,
            )
        panel.axvline(next(row["value"] for row in here if row["chosen"]), color=QUIET, zorder=0)
        values = sorted({row["value"] for row in here})
        panel.set_xticks(values, [f"{value:g}" for value in values])
        panel.minorticks_off()
        panel.set_title(name)
        panel.legend(fontsize=8)
    for panel in flat[len(names) :]:
        panel.set_axis_off()
    headline(picture, "Mean regret against each constant; the line marks the value in the code")
    return {"": picture}


def _problems(rows: list[dict[str, object]]) -> Iterator[object]:
    return iter(dict.fromkeys(row["problem"] for row in rows))


def lead(settings: Settings) -> str:
    """Return the introduction of the report."""
    return "The constants of learners that no proof fixes, each changed by itself at ε = 1."


FIGURE = Figure(
    title="What constants do",
    place="beyond the paper",
    question="How much does regret depend on constants that no proof fixes?",
    table=make_table,
    plot=plot,
    findings=findings,
    lead=lead,
)
