"""The figure of sizes: from a bandit to hundreds of states.

It takes about twenty minutes of one core; ``--runs 1000`` gives the bandits 1,000 runs, and takes
longer. ``ldprl reproduce sizes`` has some of the problems, each with fewer learners.
"""

from __future__ import annotations

from dataclasses import replace

import pyarrow as pa

from ldprl.figures.cells import CellRunner
from ldprl.figures.figure import Findings
from ldprl.figures.gallery.sizes import compare
from ldprl.figures.gallery.sizes.compare import EPSILON, Chosen
from ldprl.figures.numerals import power
from ldprl.figures.settings import Settings
from studies.figures.large.prices import prices_grid, with_prices
from studies.figures.large.problems import problems


def chosen(settings: Settings) -> Chosen:
    """Return the cells of everybody on every problem."""
    return [(problem.title, cell) for problem in problems() for cell in problem.cells(settings)]


def make_table(runner: CellRunner) -> pa.Table:
    """Return what was reached, and what it costs by formula."""
    cells = chosen(runner.settings)
    return with_prices(compare.table_of(runner, cells), cells)


def findings(table: pa.Table) -> Findings:
    """Return a sentence for each problem, and what was reached beside what it costs by formula."""
    found = compare.findings(table)
    return replace(found, grids=[*found.grids, prices_grid(table)])


def lead(settings: Settings) -> str:
    """Return the introduction of the report."""
    return (
        "How far learning comes, from a bandit to hundreds of states: the learners that we"
        f" recommend, the same without privacy, and the paper's and later ones at ε = {EPSILON:g};"
        f" with at most {power(settings.episodes)} users a run and {settings.runs} runs, fewer"
        " where one takes minutes."
    )


FIGURE = replace(
    compare.figure_of(
        "From a bandit to hundreds of states",
        "At which sizes is something learnt under ε-LDP, and with how many users?",
        chosen,
    ),
    table=make_table,
    findings=findings,
    lead=lead,
    runs=10,
)
