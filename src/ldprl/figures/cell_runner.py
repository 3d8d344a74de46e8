"""Simulates curves, each once for all figures that show it, and keeps them on disk."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import pyarrow as pa

from ldprl.experiments.cells import Cell
from ldprl.experiments.local import on_processes
from ldprl.experiments.store import Store
from ldprl.figures.settings import Settings
from ldprl.simulation.engine import Simulation


class CellRunner:
    """Simulates cells and returns their rows.

    Parameters
    ----------
    settings
        The caller's choices.
    folder
        Where finished cells are kept; those that exist are not simulated again.
    """

    def __init__(self, settings: Settings, folder: Path) -> None:
        self.settings = settings
        (folder / "cells").mkdir(parents=True, exist_ok=True)
        self._store = Store(folder)

    def missing(self, cells: Sequence[Cell]) -> list[Cell]:
        """Return the cells, each once, that are not on disk yet."""
        by_identity = {cell.identity: cell for cell in cells}
        return [cell for cell in by_identity.values() if not self._store.has(cell)]

    def simulate(
        self, cells: Sequence[Cell], workers: int, done: Callable[[Cell, Simulation], None]
    ) -> None:
        """Simulate ``cells`` on ``workers`` processes, and keep each as soon as it is done."""
        with closing(on_processes(cells, workers)) as results:
            for cell, simulation in results:
                self._store.save(cell, simulation)
                done(cell, simulation)

    def table(self, cells: Sequence[Cell]) -> pa.Table:
        """Return the rows of ``cells``, which must have been simulated."""
        return pa.concat_tables([self._store.read(cell) for cell in cells])

    def about(self, cell: Cell) -> dict[str, Any]:
        """Return what else is known of a simulated cell, such as what its runs have learnt."""
        return self._store.about(cell)
