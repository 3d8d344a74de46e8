"""What a results folder says so far: one line for each combination, finished or not."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from ldprl.errors import InputError
from ldprl.experiments.store import CELLS, MANIFEST, read_table
from ldprl.learnt.share import above_luck
from ldprl.shape import FloatArray, IntArray
from ldprl.simulation.regret import standard_error

Key = tuple[str, str, str, str, float]


@dataclass(frozen=True)
class Line:
    """The runs of one combination, over all seeds.

    Attributes
    ----------
    environment, learner, mechanism, constants, epsilon
        The combination; ε is infinite without privacy.
    users
        Numbers of users at which the regret is known.
    curves
        Regret of each run, of shape (runs, users).
    learnt
        For each run: the share of the gap between acting at random and the best policy that the
        policy at its end closes; not a number where there is no gap.
    best_value, random_value, final_value
        Of the best policy, of acting at random, and of the policy at the end, mean over runs; None
        in a folder of an earlier version.
    luck
        Standard deviation of the share that a table drawn at random closes.
    users_needed
        Where the runs are not better than such tables: about how many users the recommended pair
        needs; None if that is not known.
    seconds
        Time of all runs together, without compiling.
    """

    environment: str
    learner: str
    mechanism: str
    constants: str
    epsilon: float
    users: IntArray
    curves: FloatArray
    learnt: FloatArray
    best_value: float | None
    random_value: float | None
    final_value: float | None
    luck: float
    users_needed: float | None
    seconds: float

    @property
    def significant(self) -> bool:
        """Whether the runs are better, on average, than tables drawn at random."""
        known = self.learnt[~np.isnan(self.learnt)]
        return not len(known) or above_luck(known.tolist(), self.luck)

    @property
    def regret(self) -> FloatArray:
        """Total regret of each run."""
        return self.curves[:, -1]

    @property
    def standard_error(self) -> FloatArray:
        """Standard error of the mean regret at each number of users; infinite for one run."""
        return standard_error(self.curves)

    @property
    def name(self) -> str:
        """The combination in words, without its environment."""
        privacy = "" if math.isinf(self.epsilon) else f", ε = {self.epsilon:g}"
        return f"{self.learner}, {self.mechanism} ({self.constants}{privacy})"

    def as_dict(self) -> dict[str, Any]:
        """Return what a program can read."""
        learnt, error = float(self.learnt.mean()), float(self.standard_error[-1])
        return {
            "environment": self.environment,
            "learner": self.learner,
            "mechanism": self.mechanism,
            "constants": self.constants,
            "epsilon": None if math.isinf(self.epsilon) else self.epsilon,
            "users": int(self.users[-1]),
            "runs": len(self.curves),
            "regret": float(self.regret.mean()),
            "standard_error": error if math.isfinite(error) else None,
            "worst": float(self.regret.max()),
            "best_value": self.best_value,
            "random_value": self.random_value,
            "final_value": self.final_value,
            "learnt": None if math.isnan(learnt) else learnt,
            "significant": self.significant,
            "users_needed": None if self.significant else self.users_needed,
            "seconds": self.seconds,
        }


@dataclass(frozen=True)
class Summary:
    """All combinations of a folder, and how many of its cells are finished."""

    lines: tuple[Line, ...]
    finished: int
    cells: int


def summarize(folder: Path) -> Summary:
    """Read the finished cells of a results folder; others may be still at work in it."""
    try:
        cells = int(json.loads((folder / MANIFEST).read_bytes())["cells"])
    except (OSError, ValueError, KeyError, TypeError):
        expected = "a folder that ldprl run made"
        raise InputError("folder", str(folder), expected) from None
    found: dict[str, tuple[dict[str, Any], pa.Table]] = {}
    for path in sorted((folder / CELLS).glob("*.parquet"), key=lambda path: path.stat().st_mtime):
        table = read_table(path)
        about = json.loads(table.schema.metadata[b"ldprl"])
        # The newest of those that differ only in the version that computed them.
        found[json.dumps(about["parameters"], sort_keys=True)] = (about, table)
    groups: dict[Key, list[tuple[dict[str, Any], pa.Table]]] = {}
    for about, table in found.values():
        groups.setdefault(_key(about["parameters"]), []).append((about, table))
    lines = tuple(_line(key, groups[key]) for key in sorted(groups))
    return Summary(lines, len(found), cells)


def _key(parameters: dict[str, Any]) -> Key:
    names = (parameters[name] for name in ("environment", "learner", "mechanism", "constants"))
    epsilon = parameters["epsilon"]
    return (*names, math.inf if epsilon is None else epsilon)


def _line(key: Key, cells: Iterable[tuple[dict[str, Any], pa.Table]]) -> Line:
    curves, found, seconds = [], [], 0.0
    for about, table in cells:
        users = np.unique(table["episodes"].to_numpy())
        rows = table["regret"].to_numpy().reshape(-1, len(users))
        curves.append(rows)
        # A folder of an earlier version has none of this.
        found.append(about.get("learnt") or {"learned": [None] * len(rows), "luck": 0.0})
        seconds += about["seconds"]
    final = [value for one in found for value in one.get("final_value", ())]
    needed = [one["users_needed"] for one in found if one.get("users_needed")]
    return Line(
        *key,
        users=users,
        curves=np.concatenate(curves),
        learnt=np.array([share for one in found for share in one["learned"]], dtype=np.float64),
        best_value=found[0].get("best_value"),
        random_value=found[0].get("random_value"),
        final_value=float(np.mean(final)) if final else None,
        luck=found[0]["luck"],
        users_needed=min(needed, default=None),
        seconds=seconds,
    )
