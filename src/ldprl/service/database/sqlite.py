"""A database in one file, for one server: WAL, synced at every commit, one writer at a time."""

from __future__ import annotations

import contextlib
import json
import secrets
import sqlite3
import threading
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from ldprl.errors import InputError
from ldprl.protocol.deployment import Deployment
from ldprl.service.causes import DelayedError
from ldprl.service.database.adding import ById, added, first_of_each_id, not_counted, verdicts
from ldprl.service.database.locked_file import LockedFile
from ldprl.service.database.protocol import (
    Admitted,
    ServiceState,
    Snapshot,
    StoredPlan,
    Sum,
    Verdict,
)
from ldprl.service.database.rows import (
    Meta,
    checksum,
    meta_from,
    plan_of,
    plan_row,
    sum_of,
    sum_row,
    with_checksum,
    without_checksum,
)
from ldprl.service.database.schema import (
    CHECKED,
    FIRST_CHECKED,
    SCHEMA,
    claimed,
    is_new,
    meta_today,
    plan_today,
)
from ldprl.service.database.seen_ids import SeenIds
from ldprl.service.database.sqlite_file import (
    COUNT,
    connect,
    delayed,
    make_durable,
    transaction,
)
from ldprl.shape import IntArray

TABLES = """
CREATE TABLE meta (
  deployment TEXT NOT NULL, secret BLOB NOT NULL, paused INTEGER NOT NULL,
  plan_wanted INTEGER NOT NULL, forgotten INTEGER NOT NULL, checksum BLOB NOT NULL);
CREATE TABLE plans (
  version INTEGER PRIMARY KEY, users INTEGER NOT NULL, sums_digest TEXT NOT NULL,
  published_hour INTEGER NOT NULL, assignments TEXT NOT NULL,
  checksum BLOB NOT NULL);
CREATE TABLE sums (
  version INTEGER NOT NULL, assignment INTEGER NOT NULL, users INTEGER NOT NULL,
  tally BLOB NOT NULL, checksum BLOB NOT NULL, PRIMARY KEY (version, assignment)) WITHOUT ROWID;
CREATE TABLE ids (
  version INTEGER NOT NULL, number INTEGER NOT NULL, packed BLOB NOT NULL,
  checksum BLOB NOT NULL, PRIMARY KEY (version, number)) WITHOUT ROWID;
CREATE TABLE outcomes (
  name TEXT PRIMARY KEY, count INTEGER NOT NULL) WITHOUT ROWID;
"""
# The ids of one commit are one row, added at the end: random ids in an index would
# touch a page each. Which ids are known is looked up in memory.
_NUMBER = "SELECT coalesce(max(number), 0) + 1 FROM ids WHERE version = ?"
_TOTALS = (
    "SELECT (SELECT coalesce(sum(users), 0) FROM sums),"
    " (SELECT coalesce(max(version), 0) FROM plans), paused, plan_wanted, forgotten FROM meta"
)
_USERS = "SELECT version, assignment, users FROM sums ORDER BY version, assignment"
_SUM = "SELECT * FROM sums WHERE version = ? AND assignment = ?"
_CACHE_KIB = 64 * 1024
"""SQLite's page cache."""


class SqliteDatabase:
    """The sums in the file at ``path``; a second server on the same file is refused."""

    def __init__(self, path: str, deployment: Deployment) -> None:
        self._writing, self._reading = threading.Lock(), threading.Lock()
        self._file = LockedFile(path)
        self._connections: list[sqlite3.Connection] = []
        try:
            self._writer = self._connect(path)
            self.secret = self._claim(deployment)
            self._reader = self._connect(path)
            self._load()
            self._file.watch("-wal", "-shm")
        except (sqlite3.Error, DelayedError, ValueError) as error:
            self.close()
            if isinstance(error, InputError):
                raise
            reason = error.detail if isinstance(error, DelayedError) else error
            raise InputError("database", path, f"a database that is whole ({reason})") from None

    def _connect(self, path: str) -> sqlite3.Connection:
        connection = connect(path)
        self._connections.append(connection)
        # Refuse other tables before anything in the file changes, its journal mode included.
        self._is_new(connection)
        make_durable(connection, _CACHE_KIB)
        return connection

    def _is_new(self, connection: sqlite3.Connection) -> bool:
        (schema,) = connection.execute("PRAGMA user_version").fetchone()
        return is_new(columns_of(connection), schema, self._file.path)

    def _claim(self, deployment: Deployment) -> bytes:
        """Make the tables of a new database, or check an old one; return the secret."""
        with self._transaction() as writer:
            if self._is_new(writer):
                for statement in TABLES.split(";"):
                    writer.execute(statement)
                secret = secrets.token_bytes(32)
                text = json.dumps(deployment.document, ensure_ascii=False)
                row = with_checksum(*Meta(text, secret, False, 0, 0))
                writer.execute("INSERT INTO meta VALUES (?, ?, ?, ?, ?, ?)", row)
                writer.execute(f"PRAGMA user_version = {SCHEMA}")
            else:
                migrate(writer, "database", self._file.path)
                rows = writer.execute("SELECT * FROM meta").fetchall()
                secret = claimed(rows, deployment, self._file.path)
            return secret

    def _load(self) -> None:
        """Keep at hand what is committed, so that a commit need not read before it writes."""
        self._forgotten = meta_of(self._writer).forgotten
        self._writer.execute("DELETE FROM ids WHERE version <= ?", (self._forgotten,))
        self._seen_ids = SeenIds()
        for version, packed in ids_of(self._reader):
            self._seen_ids.add(version, [packed[i : i + 16] for i in range(0, len(packed), 16)])
        self._sums: dict[tuple[int, int], tuple[int, IntArray]] = {}
        self._sums = {(s.version, s.assignment): (s.users, s.tally) for s in self.sums()}

    def commit(self, reports: Sequence[Admitted], refused: Mapping[str, int]) -> list[Verdict]:
        """Count the reports whose id is new, durably, and say what became of each."""
        with self._transaction() as writer:
            first = first_of_each_id(reports, self._forgotten)
            new: ById = {}
            for version, mine in first.items():
                seen = self._seen_ids.among(list(mine), version)
                if fresh := {one: mine[one] for one in mine if one not in seen} if seen else mine:
                    new[version] = fresh
            for version, mine in new.items():
                (number,) = writer.execute(_NUMBER, (version,)).fetchone()
                row = with_checksum(version, number, b"".join(mine))
                writer.execute("INSERT INTO ids VALUES (?, ?, ?, ?)", row)
            sums: dict[tuple[int, int], tuple[int, IntArray]] = {}
            for place, (users, tally) in added(new).items():
                before = self._sums[place]
                sums[place] = (before[0] + users, before[1] + tally)
            if sums:
                rows = [sum_row(*place, users, tally) for place, (users, tally) in sums.items()]
                marks = ", ".join(["(?, ?, ?, ?, ?)"] * len(rows))
                flat = [value for row in rows for value in row]
                writer.execute(f"REPLACE INTO sums VALUES {marks}", flat)
            result = verdicts(reports, new, self._forgotten)
            writer.executemany(COUNT, not_counted(result, refused).items())
        self._sums.update(sums)
        for version, mine in new.items():
            self._seen_ids.add(version, list(mine))
        return result

    def state(self) -> ServiceState:
        """Return the service's progress."""
        with self._read() as reader:
            users, version, paused, wanted, forgotten = reader.execute(_TOTALS).fetchone()
            outcomes = dict(reader.execute("SELECT name, count FROM outcomes"))
        return ServiceState(users, version, outcomes, bool(paused), wanted, forgotten)

    def plans(self, after: int, most: int | None = None) -> list[StoredPlan]:
        """Return the plans, or the first of them, with a version above ``after``, in order."""
        found = "SELECT * FROM plans WHERE version > ? ORDER BY version LIMIT ?"
        with self._read() as reader:
            rows = reader.execute(found, (after, -1 if most is None else most)).fetchall()
        return [plan_of(row) for row in rows]

    def sums(self) -> list[Sum]:
        """Return all sums at one moment, ordered by version and assignment."""
        with self._read() as reader:
            rows = reader.execute(_USERS).fetchall()
            return [self._sum(reader, *row) for row in rows]

    def _sum(self, reader: sqlite3.Connection, version: int, assignment: int, users: int) -> Sum:
        """Return a sum: what is at hand if it is of as many users, else what is stored."""
        known = self._sums.get((version, assignment))
        if known is not None and known[0] == users:
            return Sum(version, assignment, users, known[1])
        return sum_of(reader.execute(_SUM, (version, assignment)).fetchone())

    def snapshot(self) -> Snapshot:
        """Return everything at one moment; every row is read and checked."""
        with self._read() as reader:
            return snapshot_of(reader)

    def lead(self) -> bool:
        """Return True: the file belongs to this process."""
        return True

    def keep_leading(self) -> None:
        """Do nothing: the file belongs to this process."""

    def publish(self, plan: StoredPlan, lengths: Sequence[int]) -> None:
        """Put a plan in force, with an empty sum of the given length for each assignment."""
        empty = {(plan.version, i): (0, np.zeros(n, np.int64)) for i, n in enumerate(lengths)}
        with self._transaction() as writer:
            writer.execute("INSERT INTO plans VALUES (?, ?, ?, ?, ?, ?)", plan_row(plan))
            rows = [sum_row(*place, users, tally) for place, (users, tally) in empty.items()]
            writer.executemany("INSERT INTO sums VALUES (?, ?, ?, ?, ?)", rows)
            # Before others can see the plan: a report under it may come at once.
            self._sums.update(empty)

    def forget(self, version: int) -> None:
        """Close the versions up to ``version`` for good, and delete the ids reported under them."""
        with self._transaction() as writer:
            closed = max(version, self._forgotten)
            _change(writer, forgotten=closed)
            writer.execute("DELETE FROM ids WHERE version <= ?", (closed,))
            # Before the next commit begins; should this one fail, closing early loses nothing.
            self._forgotten = closed
        self._seen_ids.forget(closed)

    def set_paused(self, paused: bool) -> None:
        """Pause the service, or resume it."""
        with self._transaction() as writer:
            _change(writer, paused=paused)

    def want_plan(self, version: int) -> None:
        """Ask whoever plans to replace ``version`` now."""
        with self._transaction() as writer:
            _change(writer, plan_wanted=version)

    def close(self) -> None:
        """Close the file, and let another server have it."""
        with self._writing, self._reading:
            for connection in self._connections:
                connection.close()
            self._file.close()

    @contextlib.contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        """Run all or nothing, on the one connection that writes."""
        with self._writing, transaction(self._writer, self._file) as writer:
            yield writer

    @contextlib.contextmanager
    def _read(self) -> Iterator[sqlite3.Connection]:
        """Read one state of the database, beside the writer."""
        with self._reading:
            self._file.check()
            try:
                self._reader.execute("BEGIN")
                yield self._reader
            except sqlite3.Error as error:
                raise delayed(error) from error
            finally:
                with contextlib.suppress(sqlite3.Error):
                    self._reader.execute("ROLLBACK")


def _change(writer: sqlite3.Connection, **values: Any) -> None:
    """Change what the table ``meta`` says, if it is as it was written."""
    row = with_checksum(*meta_of(writer)._replace(**values))
    writer.execute("DELETE FROM meta")
    writer.execute("INSERT INTO meta VALUES (?, ?, ?, ?, ?, ?)", row)


def meta_of(connection: sqlite3.Connection) -> Meta:
    """Return the row of the table ``meta``."""
    return meta_from(connection.execute("SELECT * FROM meta").fetchone())


def ids_of(connection: sqlite3.Connection) -> Iterator[tuple[int, bytes]]:
    """Return versions and, packed, ids that were reported under them."""
    for stored in connection.execute("SELECT * FROM ids"):
        version, _, packed = without_checksum(stored, f"a row of ids of version {stored[0]}")
        yield version, packed


def snapshot_of(connection: sqlite3.Connection) -> Snapshot:
    """Return everything that a file holds; every row is read and checked."""
    ids: Counter[int] = Counter()
    for version, packed in ids_of(connection):
        ids[version] += len(packed) // 16
    return Snapshot(
        [plan_of(row) for row in connection.execute("SELECT * FROM plans ORDER BY version")],
        [sum_of(row) for row in connection.execute("SELECT * FROM sums ORDER BY 1, 2")],
        ids,
        meta_of(connection).forgotten,
    )


def migrate(connection: sqlite3.Connection, field: str, place: str) -> None:
    """Give the rows of an earlier version their checksums and today's format, in a transaction."""
    ((schema,),) = connection.execute("PRAGMA user_version")
    if schema == SCHEMA:
        return
    if schema < FIRST_CHECKED:
        connection.create_function("checksum", -1, checksum, deterministic=True)
        for table in CHECKED:
            columns = [row[1] for row in connection.execute(f"PRAGMA table_info({table})")]
            connection.execute(f"ALTER TABLE {table} ADD COLUMN checksum BLOB NOT NULL DEFAULT x''")
            connection.execute(f"UPDATE {table} SET checksum = checksum({', '.join(columns)})")
    # Read with their checksums: what is damaged does not become whole here.
    rows = connection.execute("SELECT * FROM meta").fetchall()
    meta = with_checksum(*meta_today(rows, field, place))
    connection.execute("DELETE FROM meta")
    connection.execute("INSERT INTO meta VALUES (?, ?, ?, ?, ?, ?)", meta)
    versions = connection.execute("SELECT version FROM plans ORDER BY version").fetchall()
    for version in versions:
        (stored,) = connection.execute("SELECT * FROM plans WHERE version = ?", version)
        row = plan_row(plan_today(plan_of(stored)))
        connection.execute("REPLACE INTO plans VALUES (?, ?, ?, ?, ?, ?)", row)
    connection.execute(f"PRAGMA user_version = {SCHEMA}")


def columns_of(connection: sqlite3.Connection) -> dict[str, set[str]]:
    """Return the columns of each table."""
    tables = connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table'").fetchall()
    return {
        name: {row[1] for row in connection.execute(f'PRAGMA table_info("{name}")')}
        for (name,) in tables
    }
