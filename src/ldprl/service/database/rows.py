"""Rows as databases keep them: each ends with a checksum of the rest, which readers compare.

A disk, a memory or a copy that changes a bit of a plan, a sum, an id, the deployment or the secret
is noticed before anything is made of it. A row is written with its checksum by whoever knows its
values, and never by the database from what it has: that would make damage look whole.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ldprl.service.causes import DelayedError
from ldprl.service.database.protocol import StoredPlan, Sum
from ldprl.shape import IntArray

_BYTES = 16
_BYTES_OF_ID = 4
"""Of an id's checksum, where each id is a row: there are as many as reports."""


def checksum(*values: object) -> bytes:
    """Return the first 16 bytes of a SHA-256 over the values, each after its length."""
    digest = hashlib.sha256()
    for value in values:
        part = value if isinstance(value, bytes) else str(_plain(value)).encode(errors="replace")
        digest.update(b"%d:" % len(part))
        digest.update(part)
    return digest.digest()[:_BYTES]


def _plain(value: object) -> object:
    """Return a value as both kinds of database have it: SQLite's truths are numbers."""
    return int(value) if isinstance(value, bool) else value


def with_checksum(*row: object) -> tuple[Any, ...]:
    """Return a row as it is stored."""
    return (*row, checksum(*row))


def without_checksum(stored: Sequence[Any], what: str) -> tuple[Any, ...]:
    """Return the values of a stored row, or say that it is damaged."""
    *row, found = stored
    if found != checksum(*row):
        raise damaged(f"{what} has changed since it was written")
    return tuple(row)


def checksum_of_id(one: bytes, version: int) -> int:
    """Return the checksum of an id in a row of its own, as PostgreSQL computes it too."""
    digest = hashlib.sha256(one + version.to_bytes(8, "big")).digest()
    return int.from_bytes(digest[:_BYTES_OF_ID], "big", signed=True)


def damaged(detail: str) -> DelayedError:
    """Return the error for a database that is not as it was written."""
    return DelayedError("database-down", f"the database is damaged: {detail}")


class Meta(NamedTuple):
    """The one row of the table ``meta``."""

    deployment: str
    secret: bytes
    paused: bool
    plan_wanted: int
    forgotten: int


def meta_from(stored: Sequence[Any]) -> Meta:
    """Read what :func:`with_checksum` made of a :class:`Meta`."""
    return Meta(*without_checksum(stored, "the row of the table 'meta'"))


def plan_row(plan: StoredPlan) -> tuple[Any, ...]:
    """Return a plan as it is stored."""
    return with_checksum(
        plan.version, plan.users, plan.sums_digest, plan.published_hour, plan.assignments
    )


def plan_of(stored: Sequence[Any]) -> StoredPlan:
    """Read what :func:`plan_row` wrote."""
    return StoredPlan(*without_checksum(stored, f"the plan of version {stored[0]}"))


def sum_row(version: int, assignment: int, users: int, tally: IntArray) -> tuple[Any, ...]:
    """Return a sum as it is stored."""
    return with_checksum(version, assignment, users, blob_of(tally))


def sum_of(stored: Sequence[Any]) -> Sum:
    """Read what :func:`sum_row` wrote."""
    what = f"the sum of version {stored[0]}, assignment {stored[1]},"
    version, assignment, users, blob = without_checksum(stored, what)
    return Sum(version, assignment, users, tally_of(blob))


def blob_of(tally: IntArray) -> bytes:
    """Return a tally as databases keep it."""
    return tally.astype("<i8", copy=False).tobytes()


def tally_of(blob: bytes) -> IntArray:
    """Read what :func:`blob_of` wrote."""
    return np.frombuffer(blob, dtype="<i8").astype(np.int64)
