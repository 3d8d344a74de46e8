"""What a relay holds: plans as first seen, sealed reports, frozen batches. One SQLite file.

A report is known by the SHA-256 of its bytes. The hash stays when the report is gone, so that a
replay is known again, until the version's window ends. Reports are appended, and which hashes are
known is looked up in memory: an index of random hashes would touch a page for each report.
"""

from __future__ import annotations

import contextlib
import hashlib
import sqlite3
import threading
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from ldprl.errors import InputError
from ldprl.service.database.known import KnownIds
from ldprl.service.database.locked_file import LockedFile
from ldprl.service.database.protocol import Verdict
from ldprl.service.database.sqlite_file import COUNT, connect, make_durable, transaction

_TABLES = """
CREATE TABLE IF NOT EXISTS meta (digest TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS plans (
  version INTEGER PRIMARY KEY, body BLOB NOT NULL, size INTEGER NOT NULL, replaced REAL);
CREATE TABLE IF NOT EXISTS reports (
  number INTEGER PRIMARY KEY, version INTEGER NOT NULL, batch INTEGER NOT NULL,
  name BLOB NOT NULL, sealed BLOB);
CREATE INDEX IF NOT EXISTS by_batch ON reports (version, batch);
CREATE TABLE IF NOT EXISTS batches (
  number INTEGER PRIMARY KEY, version INTEGER NOT NULL, count INTEGER NOT NULL,
  done INTEGER NOT NULL);
CREATE TABLE IF NOT EXISTS outcomes (
  name TEXT PRIMARY KEY, count INTEGER NOT NULL) WITHOUT ROWID;
"""
_CACHE_KIB = 128 * 1024
"""SQLite's page cache."""
_NAME_BYTES = 16
"""Bytes of the SHA-256 by which a report is known: no two reports share them by chance."""


class Held(NamedTuple):
    """A sealed report that came."""

    version: int
    sealed: bytes


class RelayedPlan(NamedTuple):
    """A version of the policy: the bytes that everybody gets, and how long sealed reports are."""

    version: int
    body: bytes
    size: int
    replaced: float | None


class Batch(NamedTuple):
    """Reports that are handed over together; once frozen it never changes."""

    number: int
    version: int
    reports: int


class RelayStore:
    """The relay's database at ``path``, for one deployment and one process."""

    def __init__(self, path: str, digest: str) -> None:
        self._lock = threading.Lock()
        self._file = LockedFile(path)
        try:
            self._db = connect(path)
            make_durable(self._db, _CACHE_KIB)
            self._db.executescript(_TABLES)
            self._claim(path, digest)
            self._file.watch("-wal", "-shm")
        except sqlite3.Error as error:
            self._file.close()
            raise InputError("database", path, f"a database that opens ({error})") from None
        except InputError:
            self._file.close()
            raise
        self._known = KnownIds()
        for version, name in self._db.execute("SELECT version, name FROM reports"):
            self._known.add(version, [name])
        waiting = "SELECT version, count(*) FROM reports WHERE batch = 0 GROUP BY version"
        self._waiting: Counter[int] = Counter(dict(self._db.execute(waiting)))

    def commit(self, reports: Sequence[Held], outcomes: Mapping[str, int]) -> list[Verdict]:
        """Keep the reports, durably, and say which are new; add to the outcomes."""
        named = [(one, hashlib.sha256(one.sealed).digest()[:_NAME_BYTES]) for one in reports]
        with self._transaction() as db:
            known = self._known.among([name for _, name in named])
            new: dict[bytes, Held] = {}
            verdicts: list[Verdict] = []
            for one, name in named:
                fresh = name not in known and name not in new
                verdicts.append("counted" if fresh else "duplicate")
                if fresh:
                    new[name] = one
            rows = [(one.version, name, one.sealed) for name, one in new.items()]
            db.executemany("INSERT INTO reports VALUES (NULL, ?, 0, ?, ?)", rows)
            counts = Counter(outcomes)
            counts["accepted"] += len(new)
            counts["duplicate"] += len(reports) - len(new)
            db.executemany(COUNT, counts.items())
        with self._lock:
            for name, one in new.items():
                self._known.add(one.version, [name])
                self._waiting[one.version] += 1
        return verdicts

    def add_plan(self, plan: RelayedPlan, now: float) -> None:
        """Keep a version's plan as it is seen first; earlier versions are replaced from now on."""
        with self._transaction() as db:
            found = db.execute(
                "SELECT body FROM plans WHERE version = ?", (plan.version,)
            ).fetchone()
            if found is not None:
                if found[0] != plan.body:
                    expected = "the plan that was handed out before under the same version"
                    raise InputError("service", f"another plan {plan.version}", expected)
                return
            db.execute("INSERT INTO plans VALUES (?, ?, ?, NULL)", plan[:3])
            db.execute(
                "UPDATE plans SET replaced = ? WHERE version < ? AND replaced IS NULL",
                (now, plan.version),
            )

    def plans(self) -> list[RelayedPlan]:
        """Return the versions whose windows are open, in order."""
        with self._lock:
            rows = self._db.execute("SELECT * FROM plans ORDER BY version").fetchall()
        return [RelayedPlan(*row) for row in rows]

    def waiting(self, version: int) -> int:
        """Return how many reports of ``version`` are in no batch."""
        with self._lock:
            return self._waiting[version]

    def freeze(self, version: int, crowd: int) -> Batch | None:
        """Make a batch of all reports of ``version`` that are there, if they are a crowd."""
        with self._transaction() as db:
            where = "FROM reports WHERE version = ? AND batch = 0"
            (count,) = db.execute(f"SELECT count(*) {where}", (version,)).fetchone()
            if count < crowd:
                return None
            made = db.execute("INSERT INTO batches VALUES (NULL, ?, ?, 0)", (version, count))
            number = made.lastrowid
            assert number is not None
            mark = "UPDATE reports SET batch = ? WHERE version = ? AND batch = 0"
            db.execute(mark, (number, version))
        with self._lock:
            self._waiting[version] -= count
        return Batch(number, version, count)

    def unsent(self) -> list[Batch]:
        """Return the batches that the service has not acknowledged."""
        with self._lock:
            rows = self._db.execute(
                "SELECT number, version, count FROM batches WHERE done = 0 ORDER BY number"
            ).fetchall()
        return [Batch(*row) for row in rows]

    def sealed(self, batch: Batch) -> list[bytes]:
        """Return the reports of a batch."""
        with self._lock:
            rows = self._db.execute(
                "SELECT sealed FROM reports WHERE version = ? AND batch = ?",
                (batch.version, batch.number),
            ).fetchall()
        return [row[0] for row in rows]

    def finish(self, batch: Batch, outcomes: Mapping[str, int]) -> None:
        """Forget the contents of a batch that the service has; the hashes stay."""
        with self._transaction() as db:
            db.execute("UPDATE batches SET done = 1 WHERE number = ?", (batch.number,))
            forget = "UPDATE reports SET sealed = NULL WHERE version = ? AND batch = ?"
            db.execute(forget, (batch.version, batch.number))
            db.executemany(COUNT, {"handed-over": batch.reports, **outcomes}.items())

    def destroy(self, version: int) -> int:
        """Delete all of a version whose window has ended; return how many never had a crowd."""
        with self._transaction() as db:
            where = "version = ? AND batch = 0"
            (lost,) = db.execute(
                f"SELECT count(*) FROM reports WHERE {where}", (version,)
            ).fetchone()
            db.execute("DELETE FROM reports WHERE version = ?", (version,))
            db.execute("DELETE FROM plans WHERE version = ?", (version,))
            db.execute(COUNT, ("destroyed", lost))
        with self._lock:
            self._waiting.pop(version, None)
            self._known.forget(version)
        return int(lost)

    def outcomes(self) -> dict[str, int]:
        """Return how many reports were accepted, refused for each cause, handed over, destroyed."""
        with self._lock:
            return dict(self._db.execute("SELECT name, count FROM outcomes").fetchall())

    def close(self) -> None:
        """Let go of the file. Nothing is handed over."""
        with self._lock:
            self._db.close()
            self._file.close()

    def _claim(self, path: str, digest: str) -> None:
        with self._transaction() as db:
            row = db.execute("SELECT digest FROM meta").fetchone()
            if row is None:
                db.execute("INSERT INTO meta VALUES (?)", (digest,))
            elif row[0] != digest:
                expected = f"a database of deployment {digest}, not of {row[0]}"
                raise InputError("database", path, expected)

    @contextlib.contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        with self._lock, transaction(self._db, self._file) as db:
            yield db
