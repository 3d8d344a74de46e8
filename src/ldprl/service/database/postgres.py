"""A PostgreSQL database that several servers share: sums stay right, one of them plans."""

from __future__ import annotations

import json
import secrets
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import psycopg
import psycopg.sql

from ldprl.errors import InputError
from ldprl.protocol.deployment import Deployment
from ldprl.service.causes import DelayedError
from ldprl.service.database.adding import (
    added,
    blob_of,
    first_of_each_id,
    not_counted,
    tally_of,
    verdicts,
)
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
# Few round trips: after each of them the thread waits for the interpreter, too. Ids and sums are
# parameters, as a database may log the text of a statement that fails. The lock has a statement of
# its own: one that waited for it would read what was there before.
_BEGIN = """
BEGIN;
SELECT pg_advisory_xact_lock_shared({lock});
SELECT forgotten FROM meta;
SELECT version, assignment, users, tally FROM sums
WHERE (version, assignment) IN (VALUES {places}) ORDER BY version, assignment FOR UPDATE
"""
# In the order of the ids, so that two servers with the same ids wait and do not deadlock.
_KEEP = """
WITH kept AS (
  INSERT INTO ids SELECT substring(packed FROM 16 * place + 1 FOR 16), version
  FROM unnest(%b::bigint[], %b::bytea[]) AS given (version, packed),
    generate_series(0, length(packed) / 16 - 1) AS place
  ORDER BY 1 ON CONFLICT DO NOTHING RETURNING id)
SELECT coalesce(string_agg(id, ''), '') FROM kept
"""
_ADD = """
UPDATE sums SET users = new.users, tally = new.tally
FROM unnest(%b::bigint[], %b::integer[], %b::bigint[], %b::bytea[])
  AS new (version, assignment, users, tally)
WHERE sums.version = new.version AND sums.assignment = new.assignment
"""
_COUNT = """
INSERT INTO outcomes VALUES {outcomes}
ON CONFLICT (name) DO UPDATE SET count = outcomes.count + excluded.count;
"""
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
        self._forgotten = 0
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
        with self._committing.open() as session:
            new, sums = self._begin(session, reports)
            result = verdicts(reports, new, self._forgotten)
            additions = added(list(new.values()))
            _end(session, sums, additions, not_counted(result, refused))
        return result

    def _begin(
        self, session: psycopg.Connection[Any], reports: Sequence[Admitted]
    ) -> tuple[dict[bytes, Admitted], list[tuple[int, int, int, bytes]]]:
        """Begin, and keep the ids that are new; return their reports by id, and the sums so far."""
        while first := first_of_each_id(reports, self._forgotten):
            places = {(report.version, report.assignment) for report in first.values()}
            begun = session.execute(_BEGIN.format(lock=_FORGET_LOCK, places=_values(places)))
            _, [[forgotten]], sums = [one.fetchall() for one in begun.results() if one.description]
            if forgotten == self._forgotten:
                return _kept(session, first), sums
            # Others have forgotten versions since: begin again without their reports.
            session.rollback()
            self._forgotten = forgotten
        return {}, []

    def state(self) -> ServiceState:
        """Return the service's progress."""
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
        return [Sum(v, i, users, tally_of(blob)) for v, i, users, blob in rows]

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
        """Close the versions up to ``version`` for good, and delete the ids reported under them."""
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


def _kept(
    session: psycopg.Connection[Any], reports: dict[bytes, Admitted]
) -> dict[bytes, Admitted]:
    """Keep the ids of ``reports``, and return those that are new."""
    ids: dict[int, list[bytes]] = {}
    for one, report in reports.items():
        ids.setdefault(report.version, []).append(one)
    given = (list(ids), [b"".join(mine) for mine in ids.values()])
    [[kept]] = session.execute(_KEEP, given, binary=True)
    if len(kept) == 16 * len(reports):
        return reports
    new = {kept[start : start + 16] for start in range(0, len(kept), 16)}
    return {one: report for one, report in reports.items() if one in new}


def _end(
    session: psycopg.Connection[Any],
    sums: Sequence[tuple[int, int, int, bytes]],
    additions: dict[tuple[int, int], tuple[int, IntArray]],
    causes: Mapping[str, int],
) -> None:
    """Add to the sums, whose rows every server locks in the same order, and commit."""
    if additions:
        before = {(version, index): (users, blob) for version, index, users, blob in sums}
        rows = []
        for place, (more, tally) in additions.items():
            users, blob = before[place]
            rows.append((*place, users + more, blob_of(tally_of(blob) + tally)))
        session.execute(_ADD, [list(column) for column in zip(*rows, strict=True)])
    text = "" if sums else "BEGIN;"
    if causes:
        text += _COUNT.format(outcomes=_values(sorted(causes.items())))
    session.execute(f"{text} COMMIT")


def _values(rows: Iterable[tuple[int | str, int]]) -> str:
    """Return rows as SQL."""
    return ", ".join(
        f"({one if isinstance(one, int) else psycopg.sql.quote(one)}, {other})"
        for one, other in rows
    )
