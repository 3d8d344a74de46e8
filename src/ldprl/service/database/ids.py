"""The ids of reports in PostgreSQL: a table for each version, dropped whole when it is forgotten.

Each is a child of the table ``ids``, so that one query reads all of them. A row has 28 bytes of
PostgreSQL's own, the id's 16, and a checksum of 4 in what would be padding to 48; then comes the
index. Nothing is deleted row by row, so nothing has to be vacuumed.
"""

from __future__ import annotations

import contextlib
from typing import Any

import psycopg

from ldprl.service.database.adding import ById
from ldprl.service.database.rows import damaged

SNAPSHOT = (
    "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY;"
    # Before the first query takes the snapshot: what is in it is not dropped until it was read.
    " LOCK TABLE ids IN ACCESS SHARE MODE"
)
"""Begins a transaction that reads everything at one moment."""
IDS_TABLE = "CREATE TABLE ids (id UUID NOT NULL, checksum INTEGER NOT NULL);"
"""What the tables of versions inherit from; it has no rows of its own."""
OLD_CHECKSUM = "substring(sha256(id || int8send(version)) FROM 1 FOR 4)"
"""The checksum of an id where all were in one table, up to version 3 of the tables."""
_VERSION = "substring(relname FROM '^ids_([0-9]+)$')::bigint"
_CHILDREN = "pg_class JOIN pg_inherits ON inhrelid = pg_class.oid AND inhparent = 'ids'::regclass"


def _checksum(version: int | str) -> str:
    return (
        f"('x' || encode(substring(sha256(uuid_send(id) || int8send({version}))"
        " FROM 1 FOR 4), 'hex'))::bit(32)::integer"
    )


_IDS = (
    f"SELECT version, count(*), bool_and(checksum = {_checksum('version')})"
    f" FROM ids JOIN (SELECT pg_class.oid, {_VERSION} AS version FROM {_CHILDREN}) AS children"
    " ON children.oid = ids.tableoid GROUP BY version"
)
_FORGOTTEN = f"SELECT relname FROM {_CHILDREN} WHERE {_VERSION} <= (SELECT forgotten FROM meta)"
_PATIENCE = "SET LOCAL lock_timeout = '2s'"
# In the order of the ids, so that two servers with the same ids wait and do not deadlock.
_KEEP = """kept_{version} AS (
  INSERT INTO ids_{version} SELECT id, {checksum}
  FROM (SELECT encode(substring(packed FROM 16 * place + 1 FOR 16), 'hex')::uuid AS id
    FROM (SELECT %b::bytea AS packed) AS given,
      generate_series(0, length(packed) / 16 - 1) AS place) AS new
  ORDER BY id ON CONFLICT DO NOTHING RETURNING id)"""
_KEPT = "(SELECT coalesce(string_agg(uuid_send(id), ''), '') FROM kept_{version})"


def ids_table(version: int) -> str:
    """Return the statement that makes the table for a version's ids."""
    return f"CREATE TABLE ids_{version} (PRIMARY KEY (id)) INHERITS (ids)"


def kept(session: psycopg.Connection[Any], reports: ById) -> ById:
    """Keep the ids of ``reports``, and return those that are new."""
    versions = sorted(reports)
    keep = ", ".join(_KEEP.format(version=v, checksum=_checksum(v)) for v in versions)
    columns = ", ".join(_KEPT.format(version=v) for v in versions)
    given = [b"".join(reports[version]) for version in versions]
    [found] = session.execute(f"WITH {keep} SELECT {columns}", given, binary=True)
    new: ById = {}
    for version, packed in zip(versions, found, strict=True):
        if len(packed) == 16 * len(reports[version]):
            new[version] = reports[version]
        elif packed:
            ids = {packed[start : start + 16] for start in range(0, len(packed), 16)}
            new[version] = {one: r for one, r in reports[version].items() if one in ids}
    return new


def ids_by_version(session: psycopg.Connection[Any]) -> dict[int, int]:
    """Return how many ids there are of each version; every one is checked."""
    found = session.execute(_IDS).fetchall()
    for version, _, whole in found:
        if not whole:
            raise damaged(f"an id of version {version} has changed since it was written")
    return {version: count for version, count, _ in found}


def drop_forgotten(session: psycopg.Connection[Any]) -> None:
    """Drop the ids of forgotten versions; those that a backup reads are left for the next time."""
    for (name,) in session.execute(_FORGOTTEN).fetchall():
        with contextlib.suppress(psycopg.errors.LockNotAvailable), session.transaction():
            session.execute(_PATIENCE)
            session.execute(f"DROP TABLE {name}")


def divide(session: psycopg.Connection[Any]) -> None:
    """Divide the one table of ids, as it was up to version 3, into tables by version."""
    session.execute("ALTER TABLE ids RENAME TO old_ids")
    session.execute(IDS_TABLE)
    open_ones = "SELECT version FROM plans WHERE version > (SELECT forgotten FROM meta)"
    for (version,) in session.execute(open_ones).fetchall():
        session.execute(ids_table(version))
        # Checksums are taken as they are: what is damaged does not become whole here.
        session.execute(
            f"INSERT INTO ids_{version} SELECT encode(id, 'hex')::uuid,"
            " ('x' || encode(checksum, 'hex'))::bit(32)::integer"
            f" FROM old_ids WHERE version = {version} ORDER BY id"
        )
    session.execute("DROP TABLE old_ids")
