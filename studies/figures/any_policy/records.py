"""The runs behind the table: each is simulated once, and kept as a line of its cell's file."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pyarrow as pa

from ldprl.experiments.cells import digest
from ldprl.figures.cells import CellRunner
from ldprl.figures.settings import Settings
from studies.figures.any_policy.problems import PROBLEMS, Problem
from studies.figures.any_policy.runs import run

FIRST_SEED = 50_000
"""Runs have the seeds from here on, which nothing was chosen by: choices were made on 1000-1999."""
_RUNS = 20
"""Runs that a problem's are stated for."""
_MOST_NAIVE = 10**5
"""Users of random search and of no privacy, which are there to be told apart."""


@dataclass(frozen=True)
class Cell:
    """Runs that differ in their seeds alone."""

    problem: Problem
    who: str
    epsilon: float | None
    seeds: range

    @property
    def parameters(self) -> dict[str, Any]:
        """What the outcome depends on, beside the seeds and the code."""
        return {
            "problem": self.problem.name,
            "who": self.who,
            "epsilon": self.epsilon,
            "users": self.problem.users,
        }


def cells(settings: Settings) -> list[Cell]:
    """Return the cells of all problems whose data are there."""
    return [cell for problem in PROBLEMS if problem.available for cell in _cells(problem, settings)]


def _cells(problem: Problem, settings: Settings) -> Iterator[Cell]:
    runs = max(1, problem.runs * settings.runs // _RUNS)
    first = FIRST_SEED + settings.seed
    seeds = range(first, first + runs)
    most = replace(problem, users=min(problem.users, settings.episodes))
    few = replace(most, users=min(most.users, _MOST_NAIVE))
    for epsilon in problem.epsilons:
        yield Cell(most, "private", epsilon, seeds)
    if 1.0 in problem.epsilons:
        yield Cell(few, "random search", 1.0, seeds)
    yield Cell(few, "no privacy", None, seeds)


def make_table(runner: CellRunner) -> pa.Table:
    """Return one row for each run; those that an earlier call kept are not simulated again."""
    rows = []
    folder = runner.folder / "any-policy"
    folder.mkdir(parents=True, exist_ok=True)
    for cell in cells(runner.settings):
        rows += [cell.parameters | one for one in _runs_of(cell, folder)]
    for problem in PROBLEMS:
        if not problem.available:
            print(f"{problem.name} is left out: no wheel of {problem.package}", file=sys.stderr)
    return pa.Table.from_pylist(rows)


def _runs_of(cell: Cell, folder: Path) -> list[dict[str, Any]]:
    """Return the runs of a cell, and add those to its file that are missing."""
    path = folder / f"{cell.problem.name}-{digest(cell.parameters)[:8]}.jsonl"
    kept = {}
    if path.is_file():
        # A line that was cut off when the machine went down is simulated again.
        lines = path.read_text().split("\n")[:-1]
        kept = {one["seed"]: one for one in map(json.loads, lines)}
        path.write_text("".join(f"{line}\n" for line in lines))
    commit = commit_of_the_code()
    for seed in cell.seeds:
        if seed in kept:
            continue
        outcome = run(cell.problem, cell.who, cell.epsilon, seed, threads())
        kept[seed] = {"seed": seed, "commit": commit} | outcome.document()
        with path.open("a") as file:
            file.write(json.dumps(kept[seed]) + "\n")
    return [kept[seed] for seed in cell.seeds]


def threads() -> int:
    """Return how many cores this process may use."""
    return len(os.sched_getaffinity(0))


def commit_of_the_code() -> str:
    """Return the commit of the checkout, with a + if tracked files differ from it."""
    here = Path(__file__).parent
    described = subprocess.run(
        ["git", "describe", "--always", "--abbrev=10", "--exclude=*", "--dirty=+"],
        cwd=here,
        capture_output=True,
        text=True,
        check=False,
    )
    return described.stdout.strip() or "unknown"
