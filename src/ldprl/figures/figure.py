"""What a figure is: all that the command and the report need to know of one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa

from ldprl.experiments.cells import Cell
from ldprl.figures.cells import CellRunner
from ldprl.figures.collection import Collection
from ldprl.figures.settings import Settings

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Picture


@dataclass(frozen=True)
class Grid:
    """A table for readers: a title, the heads and the rows, all text.

    The report shows only the title of a folded one until the reader opens it.
    """

    title: str
    heads: Sequence[str]
    rows: Sequence[Sequence[str]]
    folded: bool = True


@dataclass(frozen=True)
class Findings:
    """What a figure's table shows: sentences, the most important one first, and grids."""

    sentences: Sequence[str]
    grids: Sequence[Grid] = ()


def no_cells(settings: Settings) -> list[Cell]:
    """Return no cell: nothing has to be simulated before."""
    return []


@dataclass(frozen=True)
class Figure:
    """A figure or table.

    Attributes
    ----------
    title, place, question
        What the report calls it, where it is in the paper, and the question that it answers.
    plot
        Draws its pictures from its table; the keys are appended to the names of the files.
    findings
        Returns the sentences and grids of the report, from its table.
    cells
        Returns the simulations that it needs.
    table
        Makes its table; default: one row for each cell, run and checkpoint.
    chapter
        Its number in the report on the paper; a figure without one is made only on request.
    lead
        The introduction of a report in which all figures have one; for those not on the paper.
    options
        Settings beside episodes, runs and seed that change it: ``"draws"``, or ``"states"``
        and ``"epsilon"``.
    runs
        Simulated runs of each cell unless the caller chooses.
    """

    title: str
    place: str
    question: str
    plot: Callable[[pa.Table], dict[str, Picture]]
    findings: Callable[[pa.Table], Findings]
    cells: Callable[[Settings], list[Cell]] = no_cells
    table: Callable[[CellRunner], pa.Table] | None = None
    chapter: int | None = None
    lead: Callable[[Settings], str] | None = None
    options: frozenset[str] = frozenset()
    runs: int = 20

    def make_table(self, runner: CellRunner) -> pa.Table:
        """Return the figure's data; its cells must have been simulated."""
        if self.table is None:
            return runner.table(self.cells(runner.settings))
        return self.table(runner)


@dataclass(frozen=True)
class Chapter:
    """A figure that has been made.

    Attributes
    ----------
    name, collection
        What the command calls the figure, and where it lies.
    findings, pictures, data
        What its table shows, its SVG files, and the path of its table in the results folder.
    seconds
        How long the table, pictures and findings took.
    """

    name: str
    collection: Collection
    findings: Findings
    pictures: Sequence[Path]
    data: str
    seconds: float

    @property
    def figure(self) -> Figure:
        """The figure, found by its name: its functions may be ones that no process can send."""
        return self.collection.named(self.name)
