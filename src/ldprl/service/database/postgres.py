"""A PostgreSQL database that several servers share: sums stay right, one of them plans."""

from __future__ import annotations

import contextlib
import json
import secrets
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import psycopg
import psycopg.sql

from ldprl.errors import InputError
from ldprl.protocol.deployment import Deployment
from ldprl.service.causes import DelayedError
from ldprl.service.database.adding import ById, added, first_of_each_id, not_counted, verdicts
from ldprl.service.database.ids import (
    IDS_TABLE,
    OLD_CHECKSUM,
    SNAPSHOT,
    divide,
    drop_forgotten,
    ids_by_version,
    ids_table,
    kept,
)
from ldprl.service.database.lease import LEASE_TABLE, SERVED, Lease
from ldprl.service.database.protocol import (
    Admitted,
    ServiceState,
    Snapshot,
    StoredPlan,
    Sum,
    Verdict,
    without_password,
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
from ldprl.service.database.session import NAME, Session, connect, first_line
from ldprl.shape import IntArray

TABLES = (
    """
CREATE TABLE meta (
  one BOOLEAN PRIMARY KEY CHECK (one), deployment TEXT NOT NULL, secret BYTEA NOT NULL,
  paused BOOLEAN NOT NULL, plan_wanted BIGINT NOT NULL, forgotten BIGINT NOT NULL,
  schema INTEGER NOT NULL, checksum BYTEA NOT NULL);
CREATE TABLE plans (
  version BIGINT PRIMARY KEY, users BIGINT NOT NULL, sums_digest TEXT NOT NULL,
  published_hour BIGINT NOT NULL, assignments TEXT NOT NULL, checksum BYTEA NOT NULL);
CREATE TABLE sums (
  version BIGINT NOT NULL, assignment INTEGER NOT NULL, users BIGINT NOT NULL,
  tally BYTEA NOT NULL, checksum BYTEA NOT NULL, PRIMARY KEY (version, assignment));
CREATE TABLE outcomes (name TEXT PRIMARY KEY, count BIGINT NOT NULL);
"""
    + IDS_TABLE
    + LEASE_TABLE
)
# Few round trips: after each of them the thread waits for the interpreter, too. Ids and sums are
# parameters, as a database may log the text of a statement that fails. The lock has a statement of
# its own: one that waited for it would read what was there before.
_BEGIN = """
BEGIN;
SELECT pg_advisory_xact_lock_shared({lock});
SELECT forgotten FROM meta;
SELECT * FROM sums
WHERE (version, assignment) IN (VALUES {places}) ORDER BY version, assignment FOR UPDATE
"""
_ADD = """
UPDATE sums SET users = new.users, tally = new.tally, checksum = new.checksum
FROM unnest(%b::bigint[], %b::integer[], %b::bigint[], %b::bytea[], %b::bytea[])
  AS new (version, assignment, users, tally, checksum)
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
_META = "SELECT deployment, secret, paused, plan_wanted, forgotten, checksum FROM meta"
_PLAN = "version, users, sums_digest, published_hour, assignments"
_CHANGE = "UPDATE meta SET paused = %s, plan_wanted = %s, forgotten = %s, checksum = %s"
SETUP_LOCK, _FORGET_LOCK = 0x6C647072_6C000001, 0x6C647072_6C000003


class PostgresDatabase:
    """The sums in the database at ``url``; any number of servers may use it at once."""

    def __init__(self, url: str, deployment: Deployment, lease_seconds: float) -> None:
        # One session each, so that a long read holds no commit up.
        self._committing, self._reading, self._planning = (Session(url) for _ in range(3))
        self._lease = Lease(self._planning, lease_seconds)
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
            additions = added(new)
            _end(session, sums, additions, not_counted(result, refused))
        return result

    def _begin(
        self, session: psycopg.Connection[Any], reports: Sequence[Admitted]
    ) -> tuple[ById, list[Sum]]:
        """Begin, and keep the ids that are new; return their reports, and the sums so far."""
        while first := first_of_each_id(reports, self._forgotten):
            places = {(v, report.assignment) for v in first for report in first[v].values()}
            begun = session.execute(_BEGIN.format(lock=_FORGET_LOCK, places=_values(places)))
            _, [[forgotten]], sums = [one.fetchall() for one in begun.results() if one.description]
            if forgotten == self._forgotten:
                return kept(session, first), [sum_of(row) for row in sums]
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
            return [plan_of(row) for row in session.execute(found, (after, most))]

    def sums(self) -> list[Sum]:
        """Return all sums at one moment, ordered by version and assignment."""
        with self._reading.transaction() as session:
            return _sums(session)

    def snapshot(self) -> Snapshot:
        """Return everything at one moment, without ids that servers use already."""
        with self._reading.transaction() as session:
            session.execute(SNAPSHOT)
            plans = [plan_of(row) for row in session.execute("SELECT * FROM plans ORDER BY 1")]
            [meta] = session.execute(_META)
            [[served]] = session.execute(SERVED)
            ids = None if served else ids_by_version(session)
            return Snapshot(plans, _sums(session), ids, meta_from(meta).forgotten)

    def lead(self) -> bool:
        """Return whether this process has the planner's lease, or gets it now."""
        return self._lease.take()

    def keep_leading(self) -> None:
        """Have the planner's lease last longer, if this process has it."""
        self._lease.renew()

    def publish(self, plan: StoredPlan, lengths: Sequence[int]) -> None:
        """Put a plan in force, if this process has the planner's lease still."""
        empty = [sum_row(plan.version, i, 0, np.zeros(n, np.int64)) for i, n in enumerate(lengths)]
        with self._planning.transaction() as session:
            self._lease.hold(session)
            session.execute("INSERT INTO plans VALUES (%s, %s, %s, %s, %s, %s)", plan_row(plan))
            session.execute(ids_table(plan.version))
            with session.cursor() as cursor:
                cursor.executemany("INSERT INTO sums VALUES (%s, %s, %s, %s, %s)", empty)

    def forget(self, version: int) -> None:
        """Close the versions up to ``version`` for good, and delete the ids reported under them."""
        with self._planning.transaction() as session:
            # Commits that have read the old value end first, and later ones read the new one.
            session.execute("SELECT pg_advisory_xact_lock(%s)", (_FORGET_LOCK,))
            _change(session, forgotten=version)
        with self._planning.transaction() as session:
            drop_forgotten(session)

    def set_paused(self, paused: bool) -> None:
        """Pause the service, or resume it."""
        with self._reading.transaction() as session:
            _change(session, paused=paused)

    def want_plan(self, version: int) -> None:
        """Ask whoever plans to replace ``version`` now."""
        with self._reading.transaction() as session:
            _change(session, plan_wanted=version)

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
    schema = row[0] if row else 0
    if is_new(found, schema, place):
        session.execute(TABLES)
        secret = secrets.token_bytes(32)
        text = json.dumps(deployment.document, ensure_ascii=False)
        *meta, check = with_checksum(*Meta(text, secret, False, 0, 0))
        new = "INSERT INTO meta VALUES (true, %s, %s, %s, %s, %s, %s, %s)"
        session.execute(new, (*meta, SCHEMA, check))
        return secret
    if row is not None and schema != SCHEMA:
        _migrate(session, schema, place)
    secret = claimed(session.execute(_META).fetchall(), deployment, place)
    drop_forgotten(session)
    return secret


def _migrate(session: psycopg.Connection[Any], schema: int, place: str) -> None:
    """Give the rows of an earlier version their checksums and today's format."""
    others = (
        "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()"
        " AND application_name LIKE 'ldprl%%' AND application_name <> %s"
    )
    [[running]] = session.execute(others, (NAME,))
    if running:
        # They write rows as they know them, which would look damaged.
        expected = "a database that no server of an earlier version uses: stop them all first"
        raise InputError("database", place, expected)
    if schema < FIRST_CHECKED:
        _add_checksums(session)
    # Read with their checksums: what is damaged does not become whole here.
    meta = meta_today(session.execute(_META).fetchall(), "database", place)
    change = "UPDATE meta SET deployment = %s, checksum = %s, schema = %s"
    session.execute(change, (meta.deployment, checksum(*meta), SCHEMA))
    for version in session.execute("SELECT version FROM plans ORDER BY version").fetchall():
        found = session.execute("SELECT * FROM plans WHERE version = %s", version)
        *_, text, check = plan_row(plan_today(plan_of(*found)))
        change = "UPDATE plans SET assignments = %s, checksum = %s WHERE version = %s"
        session.execute(change, (text, check, *version))
    divide(session)


def _add_checksums(session: psycopg.Connection[Any]) -> None:
    for table in CHECKED:
        session.execute(f"ALTER TABLE {table} ADD COLUMN checksum BYTEA")
    for table, columns, key in (
        ("meta", "deployment, secret, paused, plan_wanted, forgotten", ()),
        ("plans", _PLAN, ("version",)),
        ("sums", "version, assignment, users, tally", ("version", "assignment")),
    ):
        where = " AND ".join(f"{name} = %s" for name in key) or "true"
        change = f"UPDATE {table} SET checksum = %s WHERE {where}"
        for row in session.execute(f"SELECT {columns} FROM {table}").fetchall():
            session.execute(change, (checksum(*row), *row[: len(key)]))
    session.execute(f"UPDATE ids SET checksum = {OLD_CHECKSUM}")
    for table in CHECKED:
        session.execute(f"ALTER TABLE {table} ALTER COLUMN checksum SET NOT NULL")
    session.execute(LEASE_TABLE)


def _change(session: psycopg.Connection[Any], **values: Any) -> None:
    """Change what the table ``meta`` says, if it is as it was written; nothing is opened again."""
    [row] = session.execute(f"{_META} FOR UPDATE")
    before = meta_from(row)
    after = before._replace(**values)
    after = after._replace(forgotten=max(before.forgotten, after.forgotten))
    session.execute(_CHANGE, with_checksum(*after)[2:])


def _sums(session: psycopg.Connection[Any]) -> list[Sum]:
    found = "SELECT * FROM sums ORDER BY version, assignment"
    return [sum_of(row) for row in session.execute(found, binary=True)]


@contextlib.contextmanager
def one_transaction(url: str) -> Iterator[psycopg.Connection[Any]]:
    """Open a session for one transaction; what is wrong with the database is said in one line."""
    try:
        with connect(url) as session, session.transaction():
            # Nobody waits for what is copied, which may take its time between two statements.
            session.execute("SET idle_in_transaction_session_timeout = 0")
            yield session
    except (psycopg.Error, DelayedError) as error:
        reason = first_line(error) if isinstance(error, psycopg.Error) else error.detail
        expected = f"a database that can be used ({reason})"
        raise InputError("database", without_password(url), expected) from None


def _end(
    session: psycopg.Connection[Any],
    sums: Sequence[Sum],
    additions: dict[tuple[int, int], tuple[int, IntArray]],
    causes: Mapping[str, int],
) -> None:
    """Add to the sums, whose rows every server locks in the same order, and commit."""
    if additions:
        before = {(one.version, one.assignment): one for one in sums}
        rows = []
        for place, (more, tally) in additions.items():
            one = before[place]
            rows.append(sum_row(*place, one.users + more, one.tally + tally))
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
