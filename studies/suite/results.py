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
    with replacing(path) as file:
        file.write("".join(_text(line) for line in kept.values()).encode())
    about = {"commit": commit_of_the_code(), "versions": _versions(), "machine": machine()}
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
def _versions() -> dict[str, str]:
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
