"""A PostgreSQL database that several servers share: sums stay right, one of them plans."""

from __future__ import annotations

import contextlib
import json
import secrets
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import psycopg

from ldprl.errors import InputError
from ldprl.protocol.deployment import Deployment
from ldprl.service.causes import DelayedError
from ldprl.service.store.adding import added, fresh
from ldprl.service.store.protocol import (
    Admitted,
    StoredPlan,
    Sum,
    Totals,
    check_same,
    without_password,
)
from ldprl.shape import IntArray

_TABLES = """
CREATE TABLE IF NOT EXISTS meta (
  one BOOLEAN PRIMARY KEY CHECK (one), deployment TEXT NOT NULL, secret BYTEA NOT NULL,
  paused BOOLEAN NOT NULL, plan_wanted BIGINT NOT NULL, forgotten BIGINT NOT NULL);
CREATE TABLE IF NOT EXISTS plans (
  version BIGINT PRIMARY KEY, users BIGINT NOT NULL, sums_digest TEXT NOT NULL,
  published_hour BIGINT NOT NULL, assignments TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS sums (
  version BIGINT NOT NULL, assignment INTEGER NOT NULL, users BIGINT NOT NULL,
  tally BYTEA NOT NULL, PRIMARY KEY (version, assignment));
CREATE TABLE IF NOT EXISTS ids (id BYTEA PRIMARY KEY, version BIGINT NOT NULL);
CREATE TABLE IF NOT EXISTS outcomes (name TEXT PRIMARY KEY, count BIGINT NOT NULL);
"""
# In the order of the ids, so that two servers with the same ids wait and do not deadlock.
_KEEP = (
    "INSERT INTO ids SELECT * FROM unnest(%b::bytea[], %b::bigint[]) ORDER BY 1 "
    "ON CONFLICT DO NOTHING RETURNING id"
)
_LOCK = (
    "SELECT version, assignment, users, tally FROM sums WHERE (version, assignment) IN "
    "(SELECT * FROM unnest(%b::bigint[], %b::integer[])) ORDER BY version, assignment FOR UPDATE"
)
_ADD = (
    "UPDATE sums SET users = new.users, tally = new.tally "
    "FROM unnest(%b::bigint[], %b::integer[], %b::bigint[], %b::bytea[]) "
    "AS new (version, assignment, users, tally) "
    "WHERE sums.version = new.version AND sums.assignment = new.assignment"
)
_COUNT = (
    "INSERT INTO outcomes SELECT * FROM unnest(%s::text[], %s::bigint[]) ORDER BY 1 "
    "ON CONFLICT (name) DO UPDATE SET count = outcomes.count + excluded.count"
)
_TOTALS = (
    "SELECT (SELECT coalesce(sum(users), 0)::bigint FROM sums),"
    " (SELECT coalesce(max(version), 0) FROM plans),"
    " (SELECT coalesce(json_object_agg(name, count), '{}') FROM outcomes),"
    " paused, plan_wanted, forgotten FROM meta"
)
_SETUP_LOCK, _PLANNER_LOCK = 0x6C647072_6C000001, 0x6C647072_6C000002
_LONGEST_BACKOFF = 2.0


class PostgresStore:
    """The store in the database at ``url``; any number of servers may use it at once."""

    def __init__(self, url: str, deployment: Deployment) -> None:
        # One session each, so that a long read holds no commit up.
        self._committing, self._reading, self._planning = (_Session(url) for _ in range(3))
        self._leader: psycopg.Connection[Any] | None = None
        try:
            with self._planning.transaction() as session:
                session.execute("SELECT pg_advisory_xact_lock(%s)", (_SETUP_LOCK,))
                session.execute(_TABLES)
                self.secret = _claim(session, deployment)
        except psycopg.Error as error:
            self.close()
            expected = f"a database with room for tables of one's own ({_first_line(error)})"
            raise InputError("database", without_password(url), expected) from None
        except (InputError, DelayedError):
            self.close()
            raise

    def commit(self, reports: Sequence[Admitted], outcomes: Mapping[str, int]) -> list[bool]:
        """Count the reports whose id is new, durably, and say which; add to the outcomes."""
        told = dict(outcomes)
        with self._committing.transaction() as session:
            known = _known(session, reports) if reports else set()
            new, counted = fresh(reports, known)
            if new:
                _add(session, added(new))
            if len(new) < len(reports):
                told["duplicate"] = told.get("duplicate", 0) + len(reports) - len(new)
            if told:
                session.execute(_COUNT, (list(told), list(told.values())))
        return counted

    def totals(self) -> Totals:
        """Return how far the service has come."""
        with self._reading.transaction() as session:
            row = session.execute(_TOTALS).fetchone()
        assert row is not None
        users, version, outcomes, paused, wanted, forgotten = row
        return Totals(users, version, outcomes, paused, wanted, forgotten)

    def plans(self, after: int, most: int | None = None) -> list[StoredPlan]:
        """Return the plans, or the first of them, with a version above ``after``, in order."""
        found = "SELECT * FROM plans WHERE version > %s ORDER BY version LIMIT %s"
        with self._reading.transaction() as session:
            return [StoredPlan(*row) for row in session.execute(found, (after, most))]

    def sums(self) -> list[Sum]:
        """Return all sums at one moment, ordered by version and assignment."""
        with self._reading.transaction() as session:
            rows = session.execute("SELECT * FROM sums ORDER BY version, assignment").fetchall()
        return [Sum(v, i, users, _tally(blob)) for v, i, users, blob in rows]

    def lead(self) -> bool:
        """Return whether this session holds the planner's lock, which ends with the session."""
        with self._planning.transaction() as session:
            if session is self._leader:
                session.execute("SELECT 1")
                return True
            got = session.execute("SELECT pg_try_advisory_lock(%s)", (_PLANNER_LOCK,)).fetchone()
            self._leader = session if got == (True,) else None
            return self._leader is not None

    def publish(self, plan: StoredPlan, lengths: Sequence[int]) -> None:
        """Put a plan in force, through the session that holds the planner's lock."""
        row = (plan.version, plan.users, plan.sums_digest, plan.published_hour, plan.assignments)
        empty = [(plan.version, i, bytes(8 * length)) for i, length in enumerate(lengths)]
        with self._planning.transaction() as session:
            if session is not self._leader:
                raise DelayedError(
                    "database-down", "the session that held the planner's lock is gone"
                )
            session.execute("INSERT INTO plans VALUES (%s, %s, %s, %s, %s)", row)
            with session.cursor() as cursor:
                cursor.executemany("INSERT INTO sums VALUES (%s, %s, 0, %s)", empty)

    def forget(self, version: int) -> None:
        """Delete the ids of reports under versions up to ``version``."""
        with self._planning.transaction() as session:
            session.execute("DELETE FROM ids WHERE version <= %s", (version,))
            session.execute("UPDATE meta SET forgotten = %s", (version,))

    def set_paused(self, paused: bool) -> None:
        """Hold reports off, or let them in again."""
        with self._reading.transaction() as session:
            session.execute("UPDATE meta SET paused = %s", (paused,))

    def want_plan(self, version: int) -> None:
        """Ask whoever plans to replace ``version`` now."""
        with self._reading.transaction() as session:
            session.execute("UPDATE meta SET plan_wanted = %s", (version,))

    def close(self) -> None:
        """End the sessions."""
        for session in (self._committing, self._reading, self._planning):
            session.close()


class _Session:
    """A connection that comes back after the database went away, one user at a time."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._lock = threading.Lock()
        self._connection: psycopg.Connection[Any] | None = None
        self._backoff = 0.0
        self._not_before = 0.0

    @contextlib.contextmanager
    def transaction(self) -> Iterator[psycopg.Connection[Any]]:
        """Run all or nothing."""
        with self._lock:
            connection = self._connected()
            try:
                with connection.transaction():
                    yield connection
            except psycopg.Error as error:
                delayed = _delayed(error)
                if connection.closed or connection.broken:
                    self._connection = None
                if delayed is None:
                    raise
                raise delayed from None

    def close(self) -> None:
        """End the connection."""
        if self._connection is not None:
            self._connection.close()

    def _connected(self) -> psycopg.Connection[Any]:
        if self._connection is not None:
            return self._connection
        if time.monotonic() < self._not_before:
            raise DelayedError("database-down", "the database went away")
        try:
            self._connection = psycopg.connect(
                self._url,
                autocommit=True,
                connect_timeout=3,
                application_name="ldprl",
                tcp_user_timeout=10_000,
                options="-c synchronous_commit=on -c lock_timeout=20s"
                " -c idle_in_transaction_session_timeout=60s",
            )
        except psycopg.Error as error:
            self._backoff = min(max(2 * self._backoff, 0.1), _LONGEST_BACKOFF)
            self._not_before = time.monotonic() + self._backoff
            raise DelayedError("database-down", _first_line(error)) from None
        self._backoff = 0.0
        return self._connection


def _claim(session: psycopg.Connection[Any], deployment: Deployment) -> bytes:
    row = session.execute("SELECT deployment, secret FROM meta").fetchone()
    if row is not None:
        check_same(deployment, json.loads(row[0]))
        kept: bytes = row[1]
        return kept
    secret = secrets.token_bytes(32)
    text = json.dumps(deployment.document, ensure_ascii=False)
    session.execute("INSERT INTO meta VALUES (true, %s, %s, false, 0, 0)", (text, secret))
    return secret


def _known(session: psycopg.Connection[Any], reports: Sequence[Admitted]) -> set[bytes]:
    """Keep the ids, and return those that were kept before."""
    versions = {report.id: report.version for report in reports}
    given = (list(versions), list(versions.values()))
    kept = {row[0] for row in session.execute(_KEEP, given, binary=True)}
    return versions.keys() - kept


def _add(
    session: psycopg.Connection[Any], additions: dict[tuple[int, int], tuple[int, IntArray]]
) -> None:
    """Add to the sums, whose rows every server locks in the same order."""
    versions, indices = (list(column) for column in zip(*additions, strict=True))
    rows = session.execute(_LOCK, (versions, indices), binary=True).fetchall()
    users, tallies = [], []
    for version, index, before, blob in rows:
        more, tally = additions[version, index]
        users.append(before + more)
        tallies.append(_blob(_tally(blob) + tally))
    session.execute(_ADD, (versions, indices, users, tallies))


def _delayed(error: psycopg.Error) -> DelayedError | None:
    """Return why to come again, or None if the database refused what it was told to do."""
    if error.sqlstate == "53100":
        return DelayedError("storage-full", "the database cannot grow: its disk is full")
    if isinstance(error, psycopg.OperationalError | psycopg.InterfaceError):
        return DelayedError("database-down", "the database does not answer")
    return None


def _first_line(error: psycopg.Error) -> str:
    return str(error).strip().partition("\n")[0]


def _blob(tally: IntArray) -> bytes:
    return tally.astype("<i8").tobytes()


def _tally(blob: bytes) -> IntArray:
    return np.frombuffer(blob, dtype="<i8").astype(np.int64)
