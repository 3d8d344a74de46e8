"""A PostgreSQL database that several servers share: sums stay right, one of them plans."""

from __future__ import annotations

import json
import secrets
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import psycopg

from ldprl.errors import InputError
from ldprl.protocol.deployment import Deployment
from ldprl.service.causes import DelayedError
from ldprl.service.database.adding import added, first_of_each_id, not_counted, verdicts
from ldprl.service.database.protocol import (
    Admitted,
    ServiceState,
    StoredPlan,
    Sum,
    Verdict,
    without_password,
)
from ldprl.service.database.schema import SCHEMA, claimed, is_new
from ldprl.service.database.session import Session, first_line
from ldprl.shape import IntArray

TABLES = """
CREATE TABLE meta (
  one BOOLEAN PRIMARY KEY CHECK (one), deployment TEXT NOT NULL, secret BYTEA NOT NULL,
  paused BOOLEAN NOT NULL, plan_wanted BIGINT NOT NULL, forgotten BIGINT NOT NULL,
  schema INTEGER NOT NULL);
CREATE TABLE plans (
  version BIGINT PRIMARY KEY, users BIGINT NOT NULL, sums_digest TEXT NOT NULL,
  published_hour BIGINT NOT NULL, assignments TEXT NOT NULL);
CREATE TABLE sums (
  version BIGINT NOT NULL, assignment INTEGER NOT NULL, users BIGINT NOT NULL,
  tally BYTEA NOT NULL, PRIMARY KEY (version, assignment));
CREATE TABLE ids (id BYTEA PRIMARY KEY, version BIGINT NOT NULL);
CREATE TABLE outcomes (name TEXT PRIMARY KEY, count BIGINT NOT NULL);
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
_FOUND = (
    "SELECT table_name, array_agg(column_name::text) FROM information_schema.columns "
    "WHERE table_schema = current_schema() GROUP BY table_name"
)
SETUP_LOCK, _PLANNER_LOCK, _FORGET_LOCK = (0x6C647072_6C000000 + i for i in (1, 2, 3))


class PostgresDatabase:
    """The sums in the database at ``url``; any number of servers may use it at once."""

    def __init__(self, url: str, deployment: Deployment) -> None:
        # One session each, so that a long read holds no commit up.
        self._committing, self._reading, self._planning = (Session(url) for _ in range(3))
        self._leader: psycopg.Connection[Any] | None = None
        try:
            with self._planning.transaction() as session:
                session.execute("SELECT pg_advisory_xact_lock(%s)", (SETUP_LOCK,))
                self.secret = _claim(session, deployment, without_password(url))
        except psycopg.Error as error:
            self.close()
            expected = f"a database with room for its tables ({first_line(error)})"
            raise InputError("database", without_password(url), expected) from None
        except (InputError, DelayedError):
            self.close()
            raise

    def commit(self, reports: Sequence[Admitted], refused: Mapping[str, int]) -> list[Verdict]:
        """Count the reports whose id is new, durably, and say what became of each."""
        with self._committing.transaction() as session:
            forgotten = _forgotten(session) if reports else 0
            new = _kept(session, first_of_each_id(reports, forgotten))
            if new:
                _add(session, added(list(new.values())))
            result = verdicts(reports, new, forgotten)
            causes = not_counted(result, refused)
            if causes:
                session.execute(_COUNT, (list(causes), list(causes.values())))
        return result

    def state(self) -> ServiceState:
        """Return how far the service has come."""
        with self._reading.transaction() as session:
            row = session.execute(_TOTALS).fetchone()
        assert row is not None
        users, version, outcomes, paused, wanted, forgotten = row
        return ServiceState(users, version, outcomes, paused, wanted, forgotten)

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
        """Close the versions up to ``version`` for ever, and delete the ids reported under them."""
        with self._planning.transaction() as session:
            # Commits that have read the old value end first, and later ones read the new one.
            session.execute("SELECT pg_advisory_xact_lock(%s)", (_FORGET_LOCK,))
            session.execute("UPDATE meta SET forgotten = greatest(forgotten, %s)", (version,))
        with self._planning.transaction() as session:
            session.execute("DELETE FROM ids WHERE version <= (SELECT forgotten FROM meta)")

    def set_paused(self, paused: bool) -> None:
        """Pause the service, or resume it."""
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


def _claim(session: psycopg.Connection[Any], deployment: Deployment, place: str) -> bytes:
    """Make the tables of a new database, or check an old one; return the secret."""
    found = {name: set(columns) for name, columns in session.execute(_FOUND).fetchall()}
    if "meta" in found and "schema" not in found["meta"]:
        session.execute("ALTER TABLE meta ADD COLUMN schema INTEGER NOT NULL DEFAULT 0")
    row = session.execute("SELECT schema FROM meta").fetchone() if "meta" in found else None
    if is_new(found, row[0] if row else 0, place):
        session.execute(TABLES)
        secret = secrets.token_bytes(32)
        text = json.dumps(deployment.document, ensure_ascii=False)
        new = "INSERT INTO meta VALUES (true, %s, %s, false, 0, 0, %s)"
        session.execute(new, (text, secret, SCHEMA))
        return secret
    rows = session.execute("SELECT deployment, secret FROM meta").fetchall()
    secret = claimed(rows, deployment, place)
    session.execute("UPDATE meta SET schema = %s", (SCHEMA,))
    session.execute("DELETE FROM ids WHERE version <= (SELECT forgotten FROM meta)")
    return secret


def _forgotten(session: psycopg.Connection[Any]) -> int:
    """Return the newest version whose ids are gone, which does not change before the commit."""
    with session.pipeline():
        # Two statements: one alone would read what was there before it waited for the lock.
        session.execute("SELECT pg_advisory_xact_lock_shared(%s)", (_FORGET_LOCK,))
        row = session.execute("SELECT forgotten FROM meta").fetchone()
    assert row is not None
    forgotten: int = row[0]
    return forgotten


def _kept(
    session: psycopg.Connection[Any], reports: dict[bytes, Admitted]
) -> dict[bytes, Admitted]:
    """Keep the ids of ``reports``, and return those that are new."""
    if not reports:
        return {}
    given = (list(reports), [report.version for report in reports.values()])
    rows = session.execute(_KEEP, given, binary=True)
    return {one: reports[one] for (one,) in rows}


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


def _blob(tally: IntArray) -> bytes:
    return tally.astype("<i8").tobytes()


def _tally(blob: bytes) -> IntArray:
    return np.frombuffer(blob, dtype="<i8").astype(np.int64)
