"""Makes the requested figures and the report on them."""

from __future__ import annotations

import itertools
import multiprocessing
import os
import signal
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import pyarrow.parquet as pq

from ldprl.disk import replacing
from ldprl.errors import InputError, whole_number
from ldprl.figures.cells import CellRunner
from ldprl.figures.collection import Collection
from ldprl.figures.drawing import save, style
from ldprl.figures.figure import Chapter
from ldprl.figures.gallery import GALLERY
from ldprl.figures.page import markdown
from ldprl.figures.progress import Progress, Work, ordered
from ldprl.figures.report import Timing, report
from ldprl.figures.settings import Settings


def reproduce(
    names: Sequence[str],
    settings: Settings,
    out: Path,
    *,
    collection: Collection = GALLERY,
    workers: int | None = None,
    progress: Progress = lambda *_: None,
) -> Path:
    """Make figures with their data and a report, and return the path of the report.

    Curves that an earlier call with the same settings left in the folder are not simulated again.

    Parameters
    ----------
    names
        Figures of the collection; none of them means all that are chapters of the report.
    settings
        Size of the simulations.
    out
        The folder: new, or one that this function made.
    collection
        Where the figures lie; by default :mod:`ldprl.figures.gallery`, the paper's.
    workers
        Processes that simulate; default: one for each core.
    progress
        Called as the work progresses.
    """
    started = time.perf_counter()
    chosen = {name: collection.named(name) for name in names or collection.chapters()}
    processes = whole_number("workers", os.cpu_count() if workers is None else workers, 1)
    _refuse_others(out)
    runner = CellRunner(settings, out / "data")
    needed = {cell.identity: cell for one in chosen.values() for cell in one.cells(settings)}
    missing = ordered(runner.missing(list(needed.values())))
    work = Work(progress, missing, len(chosen), processes)
    runner.simulate(missing, processes, work.simulated)
    simulating = time.perf_counter() - started
    work.show(
        f"simulated {len(missing)} curves in {simulating:.0f} s; compiling took"
        f" {work.compiling:.0f} s on {processes} processes together"
    )
    made = []
    for chapter in _chapters(collection, list(chosen), settings, out, processes):
        made.append(chapter)
        work.drawn(chapter.name)
    timing = Timing(
        total=time.perf_counter() - started,
        simulating=simulating,
        compiling=work.compiling,
        processes=processes,
        simulated=len(missing),
        reused=len(needed) - len(missing),
    )
    page = out / "report.html"
    with replacing(page) as file:
        file.write(report(settings, made, timing).encode())
    return page


def _chapters(
    collection: Collection, names: Sequence[str], settings: Settings, out: Path, processes: int
) -> Iterator[Chapter]:
    """Make the figures on several processes, and yield them in their order."""
    arguments = ((collection, name, settings, out) for name in names)
    if min(processes, len(names)) == 1:
        yield from itertools.starmap(_chapter, arguments)
        return
    pool = ProcessPoolExecutor(
        min(processes, len(names)),
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


def _chapter(collection: Collection, name: str, settings: Settings, out: Path) -> Chapter:
    started = time.perf_counter()
    figure = collection.named(name)
    table = figure.make_table(CellRunner(settings, out / "data"))
    data = out / "data" / f"{name}.parquet"
    with replacing(data) as file:
        pq.write_table(table, file, compression="zstd")
    pictures = []
    with style():
        for end, picture in figure.plot(table).items():
            stem = out / "pictures" / (f"{name}-{end}" if end else name)
            save(picture, stem)
            pictures.append(stem.with_name(stem.name + ".svg"))
    findings = figure.findings(table)
    if findings.grids:
        (out / "tables").mkdir(exist_ok=True)
        with replacing(out / "tables" / f"{name}.md") as file:
            file.write(markdown(findings.grids).encode())
    seconds = time.perf_counter() - started
    return Chapter(name, collection, findings, pictures, str(data.relative_to(out)), seconds)


def _refuse_others(out: Path) -> None:
    """Refuse a folder that this function did not make."""
    if not out.exists():
        return
    if not out.is_dir() or (any(out.iterdir()) and not (out / "data" / "cells").is_dir()):
        raise InputError("out", str(out), "a new folder, or one that ldprl reproduce made")
