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
from ldprl.service.database.locked_file import LockedFile
from ldprl.service.database.protocol import Verdict
from ldprl.service.database.seen_ids import SeenIds
from ldprl.service.database.sqlite_file import COUNT, connect, make_durable, transaction

_TABLES = """
CREATE TABLE IF NOT EXISTS meta (
  digest TEXT NOT NULL, closed INTEGER NOT NULL DEFAULT 0, number INTEGER NOT NULL DEFAULT 0);
CREATE TABLE IF NOT EXISTS plans (
  version INTEGER PRIMARY KEY, body BLOB NOT NULL, size INTEGER NOT NULL, age REAL);
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
# Before, a plan had the wall clock's time at which it was replaced. Windows begin anew.
_FROM_FIRST = """
BEGIN;
ALTER TABLE meta ADD COLUMN closed INTEGER NOT NULL DEFAULT 0;
ALTER TABLE meta ADD COLUMN number INTEGER NOT NULL DEFAULT 0;
ALTER TABLE plans RENAME COLUMN replaced TO age;
UPDATE plans SET age = 0 WHERE age IS NOT NULL;
COMMIT;
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
    age: float | None
    """Seconds that a relay has run since it saw the next version, on no clock that can be set; None
    before."""


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
            self._make_tables()
            self._claim(path, digest)
            self._file.watch("-wal", "-shm")
        except sqlite3.Error as error:
            self._file.close()
            raise InputError("database", path, f"a database that opens ({error})") from None
        except InputError:
            self._file.close()
            raise
        self._seen_ids = SeenIds()
        for version, name in self._db.execute("SELECT version, name FROM reports"):
            self._seen_ids.add(version, [name])
        waiting = "SELECT version, count(*) FROM reports WHERE batch = 0 GROUP BY version"
        self._waiting: Counter[int] = Counter(dict(self._db.execute(waiting)))

    def commit(self, reports: Sequence[Held], outcomes: Mapping[str, int]) -> list[Verdict]:
        """Keep the reports, durably, and say which are new; add to the outcomes.

        What is new under a closed version is not kept: its hash may have been forgotten.
        """
        named = [(one, hashlib.sha256(one.sealed).digest()[:_NAME_BYTES]) for one in reports]
        with self._transaction() as db:
            seen, closed = self._seen_ids.among([name for _, name in named]), _closed(db)
            new: dict[bytes, Held] = {}
            verdicts: list[Verdict] = []
            for one, name in named:
                if one.version <= closed:
                    verdicts.append("expired-version")
                elif name in seen or name in new:
                    verdicts.append("duplicate")
                else:
                    verdicts.append("counted")
                    new[name] = one
            rows = [(one.version, name, one.sealed) for name, one in new.items()]
            db.executemany("INSERT INTO reports VALUES (NULL, ?, 0, ?, ?)", rows)
            counts = Counter(outcomes)
            counts["accepted"] += len(new)
            counts["duplicate"] += verdicts.count("duplicate")
            db.executemany(COUNT, counts.items())
        with self._lock:
            for name, one in new.items():
                self._seen_ids.add(one.version, [name])
                self._waiting[one.version] += 1
        return verdicts

    def add_plan(self, plan: RelayedPlan) -> bool:
        """Keep a version that is newer than all before it, which are replaced from now on.

        Return whether the plan can be handed out: it is new, or open under this version with the
        same bytes. A version that was ever seen stays what it was, or closed, for ever: a report
        that was sealed for it must be in one crowd only.
        """
        with self._transaction() as db:
            same = "SELECT count(*) FROM plans WHERE version = ? AND body = ? AND age IS NULL"
            (known,) = db.execute(same, (plan.version, plan.body)).fetchone()
            if known or plan.version <= _newest(db):
                return bool(known)
            db.execute("UPDATE plans SET age = 0 WHERE age IS NULL")
            db.execute("INSERT INTO plans VALUES (?, ?, ?, NULL)", plan[:3])
        return True

    def closed(self) -> int:
        """Return the largest version that is closed for ever, and all below it with it."""
        with self._lock:
            return _closed(self._db)

    def newest(self) -> int:
        """Return the largest version that was ever seen, or closed."""
        with self._lock:
            return _newest(self._db)

    def grow_older(self, seconds: float) -> None:
        """Add to the age of the versions that have been replaced."""
        with self._transaction() as db:
            db.execute("UPDATE plans SET age = age + ? WHERE age IS NOT NULL", (seconds,))

    def close_up_to(self, version: int) -> int:
        """Close versions for ever; return how many reports are destroyed with them.

        Batches stay until the service has answered for them.
        """
        with self._transaction() as db:
            db.execute("UPDATE meta SET closed = max(closed, ?)", (version,))
            db.execute("UPDATE plans SET age = 0 WHERE version <= ? AND age IS NULL", (version,))
            which = "DELETE FROM reports WHERE batch = 0 AND version <= ?"
            lost = db.execute(which, (version,)).rowcount
            db.execute(COUNT, ("destroyed", lost))
        with self._lock:
            self._waiting = Counter({v: n for v, n in self._waiting.items() if v > version})
        return lost

    def number(self) -> int:
        """Return how many hand-overs have begun."""
        with self._lock:
            return int(self._db.execute("SELECT number FROM meta").fetchone()[0])

    def set_number(self, number: int) -> None:
        """Begin a hand-over under a number, or take over what the service said of the last one."""
        with self._transaction() as db:
            db.execute("UPDATE meta SET number = ?", (number,))

    def plans(self) -> list[RelayedPlan]:
        """Return the versions of which anything is held, in order."""
        with self._lock:
            rows = self._db.execute("SELECT * FROM plans ORDER BY version").fetchall()
        return [RelayedPlan(*row) for row in rows]

    def waiting(self, version: int) -> int:
        """Return how many reports of ``version`` are in no batch."""
        with self._lock:
            return self._waiting[version]

    def freeze(self, version: int, crowd: int, most: int) -> Batch | None:
        """Make a batch of the reports of ``version`` that are there, if they are a crowd.

        It has all of them, or the first ``most``.
        """
        with self._transaction() as db:
            where = "FROM reports WHERE version = ? AND batch = 0"
            (waiting,) = db.execute(f"SELECT count(*) {where}", (version,)).fetchone()
            count = min(waiting, most)
            if count < crowd:
                return None
            made = db.execute("INSERT INTO batches VALUES (NULL, ?, ?, 0)", (version, count))
            number = made.lastrowid
            assert number is not None
            first = f"SELECT number {where} ORDER BY number LIMIT ?"
            mark = f"UPDATE reports SET batch = ? WHERE number IN ({first})"
            db.execute(mark, (number, version, count))
        with self._lock:
            self._waiting[version] -= count
        return Batch(number, version, count)

    def crowds(self) -> int:
        """Return how many batches are done."""
        with self._lock:
            return int(
                self._db.execute("SELECT count(*) FROM batches WHERE done = 1").fetchone()[0]
            )

    def unsent(self) -> list[Batch]:
        """Return the batches that the service has not answered for."""
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
        """Forget the contents of a batch that will not be sent again; the hashes stay."""
        with self._transaction() as db:
            db.execute("UPDATE batches SET done = 1 WHERE number = ?", (batch.number,))
            forget = "UPDATE reports SET sealed = NULL WHERE version = ? AND batch = ?"
            db.execute(forget, (batch.version, batch.number))
            db.executemany(COUNT, outcomes.items())

    def destroy(self, version: int) -> int:
        """Delete all of a version whose window has ended; return how many never had a crowd."""
        with self._transaction() as db:
            where = "version = ? AND batch = 0"
            (lost,) = db.execute(
                f"SELECT count(*) FROM reports WHERE {where}", (version,)
            ).fetchone()
            db.execute("DELETE FROM reports WHERE version = ?", (version,))
            db.execute("DELETE FROM plans WHERE version = ?", (version,))
            db.execute("UPDATE meta SET closed = max(closed, ?)", (version,))
            db.execute(COUNT, ("destroyed", lost))
        with self._lock:
            self._waiting.pop(version, None)
            self._seen_ids.forget(version)
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

    def _make_tables(self) -> None:
        columns = {name for _, name, *_ in self._db.execute("PRAGMA table_info(plans)")}
        self._db.executescript(_FROM_FIRST if "replaced" in columns else _TABLES)

    def _claim(self, path: str, digest: str) -> None:
        with self._transaction() as db:
            row = db.execute("SELECT digest FROM meta").fetchone()
            if row is None:
                db.execute("INSERT INTO meta (digest) VALUES (?)", (digest,))
            elif row[0] != digest:
                expected = f"a database of deployment {digest}, not of {row[0]}"
                raise InputError("database", path, expected)

    @contextlib.contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        with self._lock, transaction(self._db, self._file) as db:
            yield db


def _closed(db: sqlite3.Connection) -> int:
    (closed,) = db.execute("SELECT closed FROM meta").fetchone()
    return int(closed)


def _newest(db: sqlite3.Connection) -> int:
    (newest,) = db.execute("SELECT coalesce(max(version), 0) FROM plans").fetchone()
    return max(int(newest), _closed(db))
