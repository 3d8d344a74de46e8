"""What the cells found: a line of JSON each in one file, with the code and machine behind it."""

from __future__ import annotations

import json
import os
import platform
import subprocess
from collections.abc import Callable, Generator, Sequence
from contextlib import closing
from dataclasses import fields
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any, cast

import ldprl
from ldprl.disk import replacing
from ldprl.experiments.cells import AnyCell
from ldprl.experiments.cluster import on_cluster
from ldprl.experiments.local import Processes
from studies.suite.cells import Found, Run, SuiteCell
from studies.suite.closure import code_of
from studies.suite.worlds import VERSION

RESULTS = Path(__file__).with_name("results.jsonl")
Line = dict[str, Any]
_CONFIRMING = 3
"""Cells of so many worlds are run again before other lines are taken for the present code's."""


def read(path: Path) -> dict[str, Line]:
    """Return the lines of a file by cell, the newest of each; one that was cut off is left out."""
    if not path.is_file():
        return {}
    whole = path.read_text(encoding="utf-8").split("\n")[:-1]
    lines = map(json.loads, whole)
    return {line["cell"]: line for line in lines if line["suite"] == VERSION}


def current(cell: SuiteCell, line: Line) -> bool:
    """Return whether the code of learner and mechanism is still that behind a line."""
    return bool(line["code"] == code_of(cell.who, cell.epsilon))


def run(
    cells: Sequence[SuiteCell],
    path: Path,
    workers: int,
    cluster: str | None = None,
    progress: Callable[[int, int], None] = lambda *_: None,
) -> None:
    """Compute the cells that the file lacks, or has of older code, and add each when it is done."""
    kept = read(path)
    todo = [cell for cell in cells if cell.key not in kept or not current(cell, kept[cell.key])]
    _rewrite(path, kept)
    about = {"commit": commit_of_the_code(), "versions": versions(), "machine": machine()}
    done = len(cells) - len(todo)
    progress(done, len(cells))
    with closing(_computed(todo, workers, cluster)) as results:
        for cell, found in results:
            line = {
                "suite": VERSION,
                "cell": cell.key,
                "code": code_of(cell.who, cell.epsilon),
                **about,
                "seconds": round(found.seconds, 3),
                "bound": found.bound,
                "runs": _columns(found.runs),
            }
            with path.open("a", encoding="utf-8") as file:
                file.write(_text(line))
            done += 1
            progress(done, len(cells))


def confirm(cells: Sequence[SuiteCell], path: Path, workers: int) -> dict[str, bool]:
    """Run again some cells of each learner whose code has changed, and keep the rest if they agree.

    Many changes of code change no number: where the quickest cells of three worlds have the same
    runs as before, to the last digit that is kept, all lines of that learner at these ε count as
    the present code's, and say so. Return for each learner whether they did.
    """
    kept = read(path)
    old = [cell for cell in cells if cell.key in kept and not current(cell, kept[cell.key])]
    groups: dict[tuple[str, str, str], list[SuiteCell]] = {}
    for cell in old:
        groups.setdefault((cell.who.name, cell.mechanism, kept[cell.key]["code"]), []).append(cell)
    answers = {}
    with Processes(workers) as processes:
        for (entry, mechanism, code), mine in groups.items():
            quick: dict[str, SuiteCell] = {}
            for cell in sorted(mine, key=lambda one: float(kept[one.key]["seconds"])):
                quick.setdefault(cell.world, cell)
            tried = list(quick.values())[:_CONFIRMING]
            again = {tried[at].key: _columns(one.runs) for at, one in processes.compute(tried)}
            same = all(kept[key]["runs"] == runs for key, runs in again.items())
            answers[f"{entry} with {mechanism}, code {code}"] = same
            for cell in mine if same else ():
                line = kept[cell.key]
                line["confirmed"] = {
                    "commit": commit_of_the_code(),
                    "before": code,
                    "cells": sorted(again),
                }
                line["code"] = code_of(cell.who, cell.epsilon)
    _rewrite(path, kept)
    return answers


def _rewrite(path: Path, lines: dict[str, Line]) -> None:
    with replacing(path) as file:
        file.write("".join(_text(line) for line in lines.values()).encode())


def _computed(
    cells: list[SuiteCell], workers: int, cluster: str | None
) -> Generator[tuple[SuiteCell, Found]]:
    if cluster is not None:
        # The cluster needs of a cell that it computes something which says its seconds.
        yield from cast(Any, on_cluster(cast(Sequence[AnyCell], cells), cluster))
        return
    with Processes(workers) as processes:
        for place, found in processes.compute(cells):
            yield cells[place], found


def _columns(runs: Sequence[Run]) -> dict[str, list[float | None]]:
    """Return a list for each field, with nine digits."""
    return {field.name: [_short(getattr(run, field.name)) for run in runs] for field in fields(Run)}


def _short(value: float | None) -> float | None:
    return float(f"{value:.9g}") if isinstance(value, float) else value


def _text(line: Line) -> str:
    return json.dumps(line, ensure_ascii=False, allow_nan=False) + "\n"


def commit_of_the_code() -> str:
    """Return the commit of the checkout, with a + if Python files differ from it."""
    here = Path(__file__).parent
    ask = ["git", "-C", str(here)]
    found = subprocess.run([*ask, "rev-parse", "HEAD"], capture_output=True, text=True, check=False)
    changed = subprocess.run(
        [*ask, "diff", "--quiet", "HEAD", "--", ":/src/*.py", ":/studies/*.py"], check=False
    )
    return (found.stdout.strip()[:10] or "unknown") + "+" * bool(changed.returncode)


@cache
def versions() -> dict[str, str]:
    """Return the versions of what computes."""
    packages = {name: version(name) for name in ("numpy", "numba")}
    return {"ldprl": ldprl.__version__, "python": platform.python_version(), **packages}


def machine() -> str:
    """Return the kind of processor, and how many of its cores this process may use."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        lines = []
    models = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    cores = len(os.sched_getaffinity(0))
    return f"{models[0] if models else platform.machine()}, {cores} cores"
