"""Which tables a database must have, and what to do with one that has others."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence, Set
from dataclasses import replace
from typing import Any

import msgspec

from ldprl.errors import InputError
from ldprl.protocol.deployment import FORMAT, Deployment
from ldprl.service.causes import DelayedError
from ldprl.service.database.protocol import StoredPlan, check_same
from ldprl.service.database.rows import Meta, meta_from

SCHEMA = 4
"""Version of the tables; with it goes :data:`ldprl.service.database.session.NAME`."""
KNOWN = (0, 1, 2, 3, SCHEMA)
"""Versions that can be opened. Databases from before it was written down say 0, with the tables of
version 1. Those had no checksums; version 2 holds what was written in format 1 of the protocol;
up to version 3 PostgreSQL had the ids of all versions of a plan in one table."""
FIRST_CHECKED = 2
"""The first version whose rows have checksums."""
CHECKED = ("meta", "plans", "sums", "ids")
"""The tables whose rows have a checksum. How often reports were refused matters to nobody's sum."""
_COLUMNS: dict[str, set[str]] = {
    "meta": {"deployment", "secret", "paused", "plan_wanted", "forgotten"},
    "plans": {"version", "users", "sums_digest", "published_hour", "assignments"},
    "sums": {"version", "assignment", "users", "tally"},
    "ids": set(),
    "outcomes": {"name", "count"},
}


def is_new(found: Mapping[str, Set[str]], schema: int, place: str) -> bool:
    """Say whether the tables are still to be made; refuse a database that is not whole.

    ``found`` has the columns of each table. A table that is missing beside others was lost, and
    making it again would count reports twice or forget them.
    """
    ours = {name: columns for name, columns in found.items() if name in _COLUMNS}
    if not ours and schema == 0:
        return True
    if schema not in KNOWN:
        made_by = "a later" if schema > SCHEMA else "another"
        expected = (
            f"tables of version {SCHEMA}, not {schema}: {made_by} version of ldprl made them; serve"
            " them with that one, or restore a backup from this one into a new database"
        )
        raise InputError("database", place, expected)
    for name, columns in _COLUMNS.items():
        checked = {"checksum"} if schema >= FIRST_CHECKED and name in CHECKED else set()
        missing = sorted((columns | checked) - ours.get(name, set()))
        if missing or name not in ours:
            expected = f"a whole database: the table {name!r} has no {', '.join(missing) or 'rows'}"
            raise InputError("database", place, expected)
    return False


def meta_today(rows: Sequence[Sequence[Any]], field: str, place: str) -> Meta:
    """Return the row of ``meta`` with its deployment in today's format.

    Users randomize as before, so that what was counted still counts. The digest is another one.
    """
    meta, kept = read_meta(rows, field, place)
    if kept.get("format") == 1:
        kept["format"] = FORMAT
    return meta._replace(deployment=json.dumps(kept, ensure_ascii=False))


def plan_today(plan: StoredPlan) -> StoredPlan:
    """Return a plan in today's format: its laws do not say how many tables they have.

    They had 2⁵³ − 1 of those that they have now, so that their weights, and what was counted under
    any of them, stay as they are.
    """
    parts = msgspec.json.decode(plan.assignments)
    for part in parts:
        if isinstance(part.get("law"), dict):
            part["law"].pop("tables", None)
    return replace(plan, assignments=msgspec.json.encode(parts).decode())


def claimed(rows: Sequence[Sequence[Any]], deployment: Deployment, place: str) -> bytes:
    """Return the secret of a database, whose ``meta`` is given, if it holds ``deployment``."""
    meta, kept = read_meta(rows, "database", place)
    check_same(deployment, kept)
    return meta.secret


def read_meta(rows: Sequence[Sequence[Any]], field: str, place: str) -> tuple[Meta, dict[str, Any]]:
    """Return the row of ``meta``, whole, and the deployment in it."""
    try:
        (stored,) = rows
        meta = meta_from(stored)
        kept = json.loads(meta.deployment)
        if not isinstance(kept, dict) or not isinstance(meta.secret, bytes):
            raise ValueError
    except (DelayedError, ValueError, TypeError, RecursionError):
        expected = "a whole database: its table 'meta' cannot be read, or was changed"
        raise InputError(field, place, expected) from None
    return meta, kept
