"""Run an experiment: finished cells are stored, and stored cells are not run again."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

from ldprl.disk import read_text
from ldprl.errors import InputError, whole_number
from ldprl.experiments.cells import cells_of
from ldprl.experiments.cluster import on_cluster
from ldprl.experiments.local import on_processes
from ldprl.experiments.schema import parse
from ldprl.experiments.store import open_store


def run_experiment(
    path: Path,
    out: Path,
    *,
    workers: int | None = None,
    cluster: str | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Path:
    """Run the grid that a TOML file declares, and return the path of the merged table.

    The table is the same whatever runs it and however often it was interrupted. A script that
    calls this has to keep its own work under ``if __name__ == "__main__"``: workers import it.

    Parameters
    ----------
    path
        The TOML file; see :class:`~ldprl.experiments.schema.Experiment` for its keys.
    out
        The results folder: new, or of this experiment, which then continues where it stopped.
    workers
        Processes; default: one for each core.
    cluster
        Run on the Ray cluster at this address instead; ``"auto"`` finds the one on this machine.
    progress
        Called with (finished cells, all cells), first with those found on disk.

    Raises
    ------
    StoppedError
        The run could not continue; all finished cells are on disk.
    """
    if cluster is not None and workers is not None:
        raise InputError("workers", workers, "nothing beside cluster, which brings its own")
    processes = whole_number("workers", os.cpu_count() if workers is None else workers, 1)
    text = read_text("experiment", path, "TOML")
    cells = cells_of(parse(text), path.parent)
    with open_store(out, text, cells) as store:
        todo = [cell for cell in cells if not store.has(cell)]
        done = len(cells) - len(todo)
        report = progress or (lambda *_: None)
        report(done, len(cells))
        source = on_processes(todo, processes) if cluster is None else on_cluster(todo, cluster)
        with closing(source) as results:
            for cell, result in results:
                store.save(cell, result)
                done += 1
                report(done, len(cells))
        return store.merge(cells)
