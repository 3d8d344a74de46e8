"""Regret curves, read from the rows of simulated cells, and ways to pick some of them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
import pyarrow as pa

from ldprl.shape import FloatArray, IntArray

Record = dict[str, Any]
"""A row of a figure's table."""


@dataclass(frozen=True, eq=False)
class Curve:
    """Cumulative regret of a cell.

    Attributes
    ----------
    environment, learner, mechanism, constants
        What was simulated.
    epsilon, delta
        The claimed guarantee; ε is infinite without privacy.
    guaranteed_delta
        The exact δ of a report at this ε.
    episodes, regret
        Checkpoints, and the regret at them of shape (runs, checkpoints).
    """

    environment: str
    learner: str
    mechanism: str
    constants: str
    epsilon: float
    delta: float
    guaranteed_delta: float
    episodes: IntArray
    regret: FloatArray

    @property
    def as_claimed(self) -> bool:
        """Whether a report is as private as claimed."""
        return self.guaranteed_delta <= self.delta * (1 + 1e-9)

    @property
    def mean(self) -> FloatArray:
        """Mean over runs, at each checkpoint."""
        return np.asarray(self.regret.mean(axis=0))

    @property
    def last(self) -> FloatArray:
        """Regret of each run after the last episode."""
        return self.regret[:, -1]

    @property
    def final(self) -> float:
        """Mean regret after the last episode."""
        return float(self.last.mean())

    @property
    def exponent(self) -> float:
        """Return x in "regret grows like k^x" over the last factor of ten; 1 is linear."""
        return self._exponent(self.mean)

    @property
    def exponents(self) -> list[float]:
        """The exponent of each run."""
        return [self._exponent(run) for run in self.regret]

    def _exponent(self, regret: FloatArray) -> float:
        total = int(self.episodes[-1])
        early = max(total / 10, 1.0)
        before = float(np.interp(early, self.episodes, regret))
        if before <= 0 or early == total:
            return 0.0
        return math.log(float(regret[-1]) / before) / math.log(total / early)


_FIELDS = [field.name for field in fields(Curve)][:-2]
"""What the rows of a curve have in common."""


def curves_of(table: pa.Table) -> list[Curve]:
    """Return the curves of a table of cells, in its order."""
    keys = list(zip(*(table[name].to_pylist() for name in _FIELDS), strict=True))
    run, episodes, regret = (table[name].to_numpy() for name in ("run", "episodes", "regret"))
    starts = [row for row in range(len(keys)) if row == 0 or keys[row] != keys[row - 1]]
    curves = []
    for start, end in zip(starts, [*starts[1:], len(keys)], strict=True):
        points = (end - start) // (int(run[end - 1]) + 1)
        shared: dict[str, Any] = dict(zip(_FIELDS, keys[start], strict=True))
        block = regret[start:end].reshape(-1, points)
        curves.append(Curve(**shared, episodes=episodes[start : start + points], regret=block))
    return curves


def pick(curves: Sequence[Curve], **fields: object) -> list[Curve]:
    """Return the curves that have the given ``fields``."""
    return [
        curve
        for curve in curves
        if all(getattr(curve, name) == value for name, value in fields.items())
    ]


def private_epsilons(curves: Sequence[Curve]) -> list[float]:
    """Return the ε of the curves in order, without the infinite one."""
    return sorted({curve.epsilon for curve in curves if math.isfinite(curve.epsilon)})


def where(rows: Sequence[Record], **fields: object) -> list[Record]:
    """Return the rows of a figure's table that have the given ``fields``."""
    return [row for row in rows if all(row[name] == value for name, value in fields.items())]
