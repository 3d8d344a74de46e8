"""Goals that were set before the first run, beside what came out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from ldprl.figures.figure import Grid
from ldprl.shape import FloatArray
from studies.figures.any_policy.problems import PROBLEMS
from studies.figures.any_policy.summary import Run, by_cell, mean_text, users_text

HEADS = ("problem", "ε", "what", "goal", "measured", "met")


class Measure(NamedTuple):
    """A number of each run; of runs their mean counts, or the worst one."""

    what: str
    of: Callable[[Run], float]
    places: int
    largest: bool = False
    worst: bool = False

    def value(self, runs: Sequence[Run]) -> float:
        """Return the mean over runs, or that of the worst one."""
        found = self._each(runs)
        if not self.worst:
            return float(found.mean())
        return float(found.min() if self.largest else found.max())

    def text(self, runs: Sequence[Run]) -> str:
        """Return the same as text, a mean with its standard error."""
        if self.worst:
            return self.bound(self.value(runs))
        return mean_text(self._each(runs), self.places)

    def bound(self, value: float) -> str:
        """Return a number of this kind as text."""
        return f"{value:.{self.places}f}" if self.places else users_text(value)

    def _each(self, runs: Sequence[Run]) -> FloatArray:
        return np.array([self.of(one) for one in runs], dtype=np.float64)


def _users(run: Run) -> float:
    return np.inf if run["enough"] is None else float(run["enough"])


def _of(name: str) -> Callable[[Run], Any]:
    return lambda run: run[name]


USERS = Measure("users to 90%, worst", _users, 0, worst=True)
SHARE = Measure("share of the gap", _of("share"), 3, largest=True)
LEAST = Measure("share of the gap, worst", _of("share"), 3, largest=True, worst=True)
RETURN = Measure("return of the policy", _of("worth"), 3, largest=True)
REGRET = Measure("regret of a run", lambda run: run["regret"] * run["users"], 0)
REGRET_OF_A_USER = Measure("regret of a user", _of("regret"), 3)

GOALS: tuple[tuple[str, float, Measure, float], ...] = (
    ("cartpole", 0.5, USERS, 5_000),
    ("cartpole", 1.0, USERS, 1_700),
    ("cartpole", 2.0, USERS, 1_000),
    ("cartpole-16", 1.0, USERS, 6_000),
    ("cartpole-16", 2.0, USERS, 2_000),
    ("acrobot", 1.0, SHARE, 0.95),
    ("mountain-car", 1.0, SHARE, 0.95),
    ("glucose", 1.0, SHARE, 0.99),
    ("glucose", 1.0, LEAST, 0.95),
    ("bandit", 1.0, SHARE, 0.95),
    ("movies", 1.0, REGRET_OF_A_USER, 0.18),
    ("arms", 0.2, REGRET, 2_300),
    ("arms", 1.0, REGRET, 600),
    ("arms", 10.0, REGRET, 300),
    ("adult", 1.0, RETURN, 0.26),
    ("directions", 1.0, REGRET, 1_500),
    ("digits", 2.0, RETURN, 0.92),
)
"""A problem, its ε, what is measured, and the goal."""


def goals(table: pa.Table) -> Grid:
    """Return a line for each goal whose runs are in the table."""
    cells = {(runs[0]["problem"], runs[0]["epsilon"]): runs for runs in by_cell(table, "private")}
    titles = {problem.name: problem.title for problem in PROBLEMS}
    rows = []
    for name, epsilon, measure, goal in GOALS:
        if (name, epsilon) not in cells:
            continue
        runs = cells[name, epsilon]
        value = measure.value(runs)
        met = value >= goal if measure.largest else value <= goal
        sign = "≥" if measure.largest else "≤"
        rows.append(
            (
                titles[name],
                f"{epsilon:g}",
                measure.what,
                f"{sign} {measure.bound(goal)}",
                measure.text(runs),
                "yes" if met else "no",
            )
        )
    return Grid("Goals", HEADS, rows, folded=False)
