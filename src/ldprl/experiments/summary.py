"""What a results folder says so far: one line for each combination, finished or not."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
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
class ReturnLine:
    """The runs of one combination in a world that is sampled, over all seeds.

    Attributes
    ----------
    environment, policy, learner, mechanism, epsilon
        The combination; ε is infinite without privacy.
    users
        After how many users the learnt policy was looked at.
    curves
        What it is worth then, of shape (runs, users).
    earned
        What the users of each run earned on average.
    best_value, start_value
        What the best policy is worth, where that is known, and the first one.
    seconds
        Time of all runs together.
    """

    environment: str
    policy: str
    learner: str
    mechanism: str
    epsilon: float
    users: IntArray
    curves: FloatArray
    earned: FloatArray
    best_value: float | None
    start_value: float
    seconds: float

    @property
    def standard_error(self) -> FloatArray:
        """Standard error of the mean worth at each number of users; infinite for one run."""
        return standard_error(self.curves)

    @property
    def name(self) -> str:
        """The combination in words, without its environment."""
        privacy = "" if math.isinf(self.epsilon) else f" (ε = {self.epsilon:g})"
        return f"{self.policy}, {self.learner}, {self.mechanism}{privacy}"

    def as_dict(self) -> dict[str, Any]:
        """Return what a program can read."""
        final, users, error = self.curves[:, -1], int(self.users[-1]), self.standard_error[-1]
        regret = learned = None
        if self.best_value is not None:
            regret = users * (self.best_value - float(self.earned.mean()))
            gap = self.best_value - self.start_value
            learned = (float(final.mean()) - self.start_value) / gap if gap > 0 else None
        return {
            "environment": self.environment,
            "policy": self.policy,
            "learner": self.learner,
            "mechanism": self.mechanism,
            "epsilon": None if math.isinf(self.epsilon) else self.epsilon,
            "users": users,
            "runs": len(self.curves),
            "mean_return": float(self.earned.mean()),
            "final_return": float(final.mean()),
            "standard_error": float(error) if math.isfinite(error) else None,
            "worst": float(final.min()),
            "best_value": self.best_value,
            "start_value": self.start_value,
            "regret": regret,
            "learned": learned,
            "seconds": self.seconds,
        }


@dataclass(frozen=True)
class Summary:
    """All combinations of a folder, and how many of its cells are finished.

    A folder has ``lines``, or in sampled worlds ``returns``.
    """

    lines: tuple[Line, ...]
    finished: int
    cells: int
    returns: tuple[ReturnLine, ...] = ()


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
    if any("policy" in about["parameters"] for about, _ in found.values()):
        returns = tuple(_return_line(key, groups[key]) for key in sorted(groups))
        return Summary((), len(found), cells, returns)
    lines = tuple(_line(key, groups[key]) for key in sorted(groups))
    return Summary(lines, len(found), cells)


def _key(parameters: dict[str, Any]) -> Key:
    last = "policy" if "policy" in parameters else "constants"
    names = (parameters[name] for name in ("environment", "learner", "mechanism", last))
    epsilon = parameters["epsilon"]
    return (*names, math.inf if epsilon is None else epsilon)


def _line(key: Key, cells: Sequence[tuple[dict[str, Any], pa.Table]]) -> Line:
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


def _return_line(key: Key, cells: Sequence[tuple[dict[str, Any], pa.Table]]) -> ReturnLine:
    environment, learner, mechanism, policy, epsilon = key
    users = np.unique(cells[0][1]["episodes"].to_numpy())
    found = [about["learnt"] for about, _ in cells]
    return ReturnLine(
        environment,
        policy,
        learner,
        mechanism,
        epsilon,
        users=users,
        curves=np.concatenate(
            [table["mean_return"].to_numpy().reshape(-1, len(users)) for _, table in cells]
        ),
        earned=np.concatenate([one["mean_return"] for one in found]),
        best_value=found[0]["best_value"],
        start_value=float(np.mean([one["start_value"] for one in found])),
        seconds=sum(about["seconds"] for about, _ in cells),
    )
