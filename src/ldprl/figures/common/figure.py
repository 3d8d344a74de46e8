"""The protocol of a figure: all that the report asks of one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pyarrow as pa

from ldprl.experiments.cells import Cell
from ldprl.figures.common.laboratory import Laboratory
from ldprl.figures.common.settings import Settings

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Picture


@dataclass(frozen=True)
class Grid:
    """A table for people: a title, the heads and the rows, all text.

    Where it is not what one came for, the report keeps it folded.
    """

    title: str
    heads: Sequence[str]
    rows: Sequence[Sequence[str]]
    folded: bool = True


@dataclass(frozen=True)
class Findings:
    """What a figure's data say: sentences, the most important one first, and tables."""

    sentences: Sequence[str]
    grids: Sequence[Grid] = ()


@dataclass(frozen=True)
class Figure:
    """A figure or table of the paper.

    Attributes
    ----------
    name, title, place
        What the command calls it, what the report calls it, and where it is in the paper.
    question
        What one looks at it for.
    cells
        What must be simulated before it can be made.
    run
        Makes its data.
    plot
        Draws its pictures, each with the end of its file's name.
    findings
        Says what is seen.
    """

    name: str
    title: str
    place: str
    question: str
    cells: Callable[[Settings], list[Cell]]
    run: Callable[[Laboratory], pa.Table]
    plot: Callable[[pa.Table], dict[str, Picture]]
    findings: Callable[[pa.Table], Findings]


def no_cells(settings: Settings) -> list[Cell]:
    """Say that nothing has to be simulated before."""
    return []
