"""A database in one file, for one server: WAL, synced at every commit, one writer at a time."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import secrets
import sqlite3
import threading
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np

from ldprl.errors import InputError
from ldprl.protocol.deployment import Deployment
from ldprl.service.causes import DelayedError
from ldprl.service.store.adding import added, fresh
from ldprl.service.store.known import KnownIds
from ldprl.service.store.protocol import Admitted, StoredPlan, Sum, Totals, check_same
from ldprl.shape import IntArray

_TABLES = """
CREATE TABLE IF NOT EXISTS meta (
  deployment TEXT NOT NULL, secret BLOB NOT NULL, paused INTEGER NOT NULL,
  plan_wanted INTEGER NOT NULL, forgotten INTEGER NOT NULL);
CREATE TABLE IF NOT EXISTS plans (
  version INTEGER PRIMARY KEY, users INTEGER NOT NULL, sums_digest TEXT NOT NULL,
  published_hour INTEGER NOT NULL, assignments TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS sums (
  version INTEGER NOT NULL, assignment INTEGER NOT NULL, users INTEGER NOT NULL,
  tally BLOB NOT NULL, PRIMARY KEY (version, assignment)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS ids (
  version INTEGER NOT NULL, number INTEGER NOT NULL, packed BLOB NOT NULL,
  PRIMARY KEY (version, number)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS outcomes (
  name TEXT PRIMARY KEY, count INTEGER NOT NULL) WITHOUT ROWID;
"""
# The ids of one commit are one row, added at the end: random ids in an index of their own would
# touch a page each. Which ids are known is looked up in memory.
_KEEP = "INSERT INTO ids SELECT ?1, coalesce(max(number), 0) + 1, ?2 FROM ids WHERE version = ?1"
_COUNT = (
    "INSERT INTO outcomes VALUES (?, ?) "
    "ON CONFLICT (name) DO UPDATE SET count = count + excluded.count"
)
_TOTALS = (
    "SELECT (SELECT coalesce(sum(users), 0) FROM sums),"
    " (SELECT coalesce(max(version), 0) FROM plans), paused, plan_wanted, forgotten FROM meta"
)
_CACHE_KIB = 64 * 1024


class SqliteStore:
    """The store in the file at ``path``; a second server on the same file is refused."""

    def __init__(self, path: str, deployment: Deployment) -> None:
        self._writing, self._reading = threading.Lock(), threading.Lock()
        self._held = _hold(path)
        try:
            self._writer = _connect(path)
            self._writer.executescript(_TABLES)
            self.secret = self._claim(deployment)
            self._reader = _connect(path)
        except sqlite3.Error as error:
            os.close(self._held)
            raise InputError("database", path, f"a database that opens ({error})") from None
        except InputError:
            os.close(self._held)
            raise
        # What is committed, kept at hand so that a commit need not read before it writes.
        self._known = KnownIds()
        for version, packed in self._reader.execute("SELECT version, packed FROM ids"):
            self._known.add(version, [packed[i : i + 16] for i in range(0, len(packed), 16)])
        self._sums = {(s.version, s.assignment): (s.users, s.tally) for s in self.sums()}

    def _claim(self, deployment: Deployment) -> bytes:
        with self._transaction() as writer:
            row = writer.execute("SELECT deployment, secret FROM meta").fetchone()
            if row is None:
                secret = secrets.token_bytes(32)
                text = json.dumps(deployment.document, ensure_ascii=False)
                writer.execute("INSERT INTO meta VALUES (?, ?, 0, 0, 0)", (text, secret))
                return secret
            check_same(deployment, json.loads(row[0]))
            kept: bytes = row[1]
            return kept

    def commit(self, reports: Sequence[Admitted], outcomes: Mapping[str, int]) -> list[bool]:
        """Count the reports whose id is new, durably, and say which; add to the outcomes."""
        with self._transaction() as writer:
            new, counted = fresh(reports, self._known.among([report.id for report in reports]))
            ids: dict[int, list[bytes]] = {}
            for report in new:
                ids.setdefault(report.version, []).append(report.id)
            for version, mine in ids.items():
                writer.execute(_KEEP, (version, b"".join(mine)))
            sums: dict[tuple[int, int], tuple[int, IntArray]] = {}
            for place, (users, tally) in added(new).items():
                before = self._sums[place]
                sums[place] = (before[0] + users, before[1] + tally)
            if sums:
                rows = [(*place, users, _blob(tally)) for place, (users, tally) in sums.items()]
                marks = ", ".join(["(?, ?, ?, ?)"] * len(rows))
                flat = [value for row in rows for value in row]
                writer.execute(f"REPLACE INTO sums VALUES {marks}", flat)
            told = dict(outcomes)
            if len(new) < len(reports):
                told["duplicate"] = told.get("duplicate", 0) + len(reports) - len(new)
            writer.executemany(_COUNT, told.items())
        self._sums.update(sums)
        for version, mine in ids.items():
            self._known.add(version, mine)
        return counted

    def totals(self) -> Totals:
        """Return how far the service has come."""
        with self._read() as reader:
            users, version, paused, wanted, forgotten = reader.execute(_TOTALS).fetchone()
            outcomes = dict(reader.execute("SELECT name, count FROM outcomes"))
        return Totals(users, version, outcomes, bool(paused), wanted, forgotten)

    def plans(self, after: int, most: int | None = None) -> list[StoredPlan]:
        """Return the plans, or the first of them, with a version above ``after``, in order."""
        found = "SELECT * FROM plans WHERE version > ? ORDER BY version LIMIT ?"
        with self._read() as reader:
            rows = reader.execute(found, (after, -1 if most is None else most)).fetchall()
        return [StoredPlan(*row) for row in rows]

    def sums(self) -> list[Sum]:
        """Return all sums at one moment, ordered by version and assignment."""
        with self._read() as reader:
            rows = reader.execute("SELECT * FROM sums ORDER BY version, assignment").fetchall()
        return [Sum(v, i, users, _tally(blob)) for v, i, users, blob in rows]

    def lead(self) -> bool:
        """Return True: the file belongs to this process."""
        return True

    def publish(self, plan: StoredPlan, lengths: Sequence[int]) -> None:
        """Put a plan in force, with an empty sum of the given length for each assignment."""
        empty = {(plan.version, i): (0, np.zeros(n, np.int64)) for i, n in enumerate(lengths)}
        with self._transaction() as writer:
            row = (plan.version, plan.users, plan.sums_digest, plan.published_hour)
            writer.execute("INSERT INTO plans VALUES (?, ?, ?, ?, ?)", (*row, plan.assignments))
            rows = [(*place, users, _blob(tally)) for place, (users, tally) in empty.items()]
            writer.executemany("INSERT INTO sums VALUES (?, ?, ?, ?)", rows)
            # Before others can see the plan: a report under it may come at once.
            self._sums.update(empty)

    def forget(self, version: int) -> None:
        """Delete the ids of reports under versions up to ``version``."""
        with self._transaction() as writer:
            writer.execute("DELETE FROM ids WHERE version <= ?", (version,))
            writer.execute("UPDATE meta SET forgotten = ?", (version,))
        self._known.forget(version)

    def set_paused(self, paused: bool) -> None:
        """Hold reports off, or let them in again."""
        with self._transaction() as writer:
            writer.execute("UPDATE meta SET paused = ?", (int(paused),))

    def want_plan(self, version: int) -> None:
        """Ask whoever plans to replace ``version`` now."""
        with self._transaction() as writer:
            writer.execute("UPDATE meta SET plan_wanted = ?", (version,))

    def close(self) -> None:
        """Let go of the file."""
        with self._writing, self._reading:
            self._reader.close()
            self._writer.close()
            os.close(self._held)

    @contextlib.contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        """Run all or nothing, on the one connection that writes."""
        with self._writing:
            try:
                self._writer.execute("BEGIN IMMEDIATE")
                yield self._writer
                self._writer.execute("COMMIT")
            except BaseException as error:
                with contextlib.suppress(sqlite3.Error):
                    self._writer.execute("ROLLBACK")
                if isinstance(error, sqlite3.Error):
                    raise _delayed(error) from error
                raise

    @contextlib.contextmanager
    def _read(self) -> Iterator[sqlite3.Connection]:
        """Read one state of the database, beside the writer."""
        with self._reading:
            try:
                self._reader.execute("BEGIN")
                yield self._reader
            except sqlite3.Error as error:
                raise _delayed(error) from error
            finally:
                with contextlib.suppress(sqlite3.Error):
                    self._reader.execute("ROLLBACK")


def _connect(path: str) -> sqlite3.Connection:
    connection = sqlite3.connect(path, isolation_level=None, check_same_thread=False, timeout=5)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = FULL")
    connection.execute("PRAGMA temp_store = MEMORY")
    connection.execute(f"PRAGMA cache_size = -{_CACHE_KIB}")
    connection.execute("PRAGMA journal_size_limit = 67108864")
    return connection


def _hold(path: str) -> int:
    """Lock the database for this process; the system lets go of it when the process ends."""
    lock = Path(path + ".lock")
    try:
        held = os.open(lock, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
    except OSError as error:
        raise InputError("database", path, f"a folder to write in ({error.strerror})") from None
    try:
        fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(held)
        expected = "a file that no other server uses; several servers share a postgresql:// one"
        raise InputError("database", path, expected) from None
    return held


def _delayed(error: sqlite3.Error) -> DelayedError:
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
    if code in (sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR):
        return DelayedError("storage-full", "the database cannot grow: its disk is full or fails")
    return DelayedError("database-down", f"the database does not answer ({type(error).__name__})")


def _blob(tally: IntArray) -> bytes:
    return tally.astype("<i8").tobytes()


def _tally(blob: bytes) -> IntArray:
    return np.frombuffer(blob, dtype="<i8").astype(np.int64)
