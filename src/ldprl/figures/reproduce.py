"""Makes the figures that were asked for, and the report on them."""

from __future__ import annotations

import importlib
import itertools
import multiprocessing
import os
import signal
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from ldprl.errors import InputError, one_of, whole_number
from ldprl.figures.common.figure import Figure
from ldprl.figures.common.laboratory import Laboratory
from ldprl.figures.common.page import markdown
from ldprl.figures.common.settings import Settings
from ldprl.figures.common.style import save, style
from ldprl.figures.common.work import Progress, Work, ordered
from ldprl.figures.report import Chapter, Timing, report

NAMES = (
    "regret",
    "mechanisms",
    "psrl",
    "histogram",
    "two-trajectories",
    "hard-instance",
    "table-1",
    "shuffle",
)
"""The figures and tables of the paper, in the order of the report."""
DRAWS = "draws"
"""The figure on other MDPs, which is made only when it is asked for."""
BEYOND = "beyond"
"""The figure on what comes after the paper; it takes long, and is made when it is asked for."""
RANDOMIZERS = "randomizers"
"""The map of randomizers, by formula; not in the paper either."""


def reproduce(
    names: Sequence[str],
    settings: Settings,
    out: Path,
    *,
    workers: int | None = None,
    progress: Progress = lambda *_: None,
) -> Path:
    """Make figures with their data and a report, and return the path of the report.

    What an earlier call with the same settings left in the folder is not simulated again.

    Parameters
    ----------
    names
        Some of :data:`NAMES`, :data:`DRAWS`, :data:`BEYOND` or :data:`RANDOMIZERS`; none of them
        means all of :data:`NAMES`.
    settings
        Size of the simulations.
    out
        The folder: new, or one that this function made.
    workers
        Processes that simulate; default: one a core.
    progress
        Told what is going on.
    """
    started = time.perf_counter()
    for name in names:
        one_of("name", name, (*NAMES, DRAWS, BEYOND, RANDOMIZERS))
    processes = whole_number("workers", os.cpu_count() if workers is None else workers, 1)
    _refuse_others(out)
    figures = [figure_named(name) for name in dict.fromkeys(names or NAMES)]
    laboratory = Laboratory(settings, out / "data")
    needed = {cell.identity: cell for figure in figures for cell in figure.cells(settings)}
    missing = laboratory.missing(list(needed.values()))
    work = Work(progress, missing, len(figures), processes)
    laboratory.simulate(ordered(missing), processes, work.simulated)
    simulating = time.perf_counter() - started
    work.show(
        f"simulated {len(missing)} curves in {simulating:.0f} s; compiling took"
        f" {work.compiling:.0f} s on {processes} processes together"
    )
    chapters = []
    for chapter in _chapters(figures, settings, out, processes):
        chapters.append(chapter)
        work.drawn(chapter.figure.name)
    timing = Timing(
        total=time.perf_counter() - started,
        simulating=simulating,
        compiling=work.compiling,
        processes=processes,
        simulated=len(missing),
        reused=len(needed) - len(missing),
    )
    page = out / "report.html"
    _put(page, report(settings, chapters, timing).encode())
    return page


def figure_named(name: str) -> Figure:
    """Return the figure that the command calls ``name``."""
    figure: Figure = importlib.import_module(f"ldprl.figures.{name.replace('-', '_')}").FIGURE
    return figure


def _chapters(
    figures: Sequence[Figure], settings: Settings, out: Path, processes: int
) -> Iterator[Chapter]:
    """Make the figures on as many processes, and yield them in their order."""
    arguments = ((figure.name, settings, out) for figure in figures)
    if min(processes, len(figures)) == 1:
        yield from itertools.starmap(_chapter, arguments)
        return
    pool = ProcessPoolExecutor(
        min(processes, len(figures)),
        mp_context=multiprocessing.get_context("spawn"),
        # Ctrl-C reaches the whole group; what to do about it is the parent's decision.
        initializer=signal.signal,
        initargs=(signal.SIGINT, signal.SIG_IGN),
    )
    try:
        for made in [pool.submit(_chapter, *given) for given in arguments]:
            yield made.result()
    finally:
        pool.shutdown(cancel_futures=True)


def _chapter(name: str, settings: Settings, out: Path) -> Chapter:
    started = time.perf_counter()
    figure = figure_named(name)
    table = figure.run(Laboratory(settings, out / "data"))
    data = out / "data" / f"{figure.name}.parquet"
    _put_table(data, table)
    pictures = []
    with style():
        for end, picture in figure.plot(table).items():
            stem = out / "pictures" / (f"{figure.name}-{end}" if end else figure.name)
            save(picture, stem)
            pictures.append(stem.with_name(stem.name + ".svg"))
    findings = figure.findings(table)
    if findings.grids:
        (out / "tables").mkdir(exist_ok=True)
        _put(out / "tables" / f"{figure.name}.md", markdown(findings.grids).encode())
    seconds = time.perf_counter() - started
    return Chapter(figure, findings, pictures, str(data.relative_to(out)), seconds)


def _refuse_others(out: Path) -> None:
    """Refuse a folder that holds what is not ours."""
    if not out.exists():
        return
    if not out.is_dir() or (any(out.iterdir()) and not (out / "data" / "cells").is_dir()):
        raise InputError("out", str(out), "a new folder, or one that ldprl reproduce made")


def _put_table(path: Path, table: pa.Table) -> None:
    sink = pa.BufferOutputStream()
    pq.write_table(table, sink, compression="zstd")
    _put(path, sink.getvalue().to_pybytes())


def _put(path: Path, content: bytes) -> None:
    """Write a file that is there in full or not at all."""
    partial = path.with_name(path.name + ".tmp")
    partial.write_bytes(content)
    partial.replace(path)
