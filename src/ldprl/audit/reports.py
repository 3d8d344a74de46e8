"""Many reports of one user, drawn as a client draws them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from ldprl.assignment import Assignment
from ldprl.mechanisms.mechanism import Mechanism
from ldprl.mechanisms.sampling import RandomSource
from ldprl.mechanisms.trajectory import Trajectory
from ldprl.shape import Array, IntArray

_CHUNK = 1_000
"""Reports drawn at a time, which bounds the memory."""


@dataclass(frozen=True)
class Reports:
    """Reports as rows of ``values``, the shorter ones padded with zeros to the longest."""

    values: Array
    lengths: IntArray

    def columns(self, width: int) -> Array:
        """Return the first ``width`` columns, with zeros where there are not as many."""
        values = self.values[:, :width]
        return np.pad(values, ((0, 0), (0, width - values.shape[1])))


def draw_reports(
    mechanism: Mechanism,
    trajectory: Trajectory,
    assignment: Assignment,
    count: int,
    source: RandomSource,
) -> Reports:
    """Draw ``count`` reports of one user through the client's own code."""
    rows: Array | Sequence[Array]
    if _speaks_for_the_client(type(mechanism)):
        rows = mechanism.privatize_many(trajectory, assignment, count, source)
    else:
        rows = [mechanism.privatize(trajectory, assignment, source) for _ in range(count)]
    if isinstance(rows, np.ndarray):
        return Reports(rows, np.full(count, rows.shape[1]))
    parts = [np.ravel(row) for row in rows]
    lengths = np.array([len(part) for part in parts], dtype=np.int64)
    values = np.zeros((count, int(lengths.max())), dtype=np.result_type(*{p.dtype for p in parts}))
    for row, part in zip(values, parts, strict=True):
        row[: len(part)] = part
    return Reports(values, lengths)


def _speaks_for_the_client(kind: type[Mechanism]) -> bool:
    """Whether no class changed ``privatize`` after ``privatize_many`` was written for it."""

    def depth(method: str) -> int:
        return next(index for index, base in enumerate(kind.__mro__) if method in vars(base))

    return depth("privatize_many") <= depth("privatize")


def chunks(count: int) -> Iterator[int]:
    """Split ``count`` into numbers of reports that are drawn at once."""
    for start in range(0, count, _CHUNK):
        yield min(_CHUNK, count - start)
