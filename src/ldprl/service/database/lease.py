"""Who plans: a lease in a PostgreSQL database, which ends unless it is renewed again and again."""

from __future__ import annotations

import secrets
import time
from typing import Any

import psycopg

from ldprl.service.causes import DelayedError
from ldprl.service.database.session import Session

LEASE_TABLE = """
CREATE TABLE IF NOT EXISTS lease (
  one BOOLEAN PRIMARY KEY CHECK (one), holder BYTEA NOT NULL, pid INTEGER NOT NULL,
  until TIMESTAMPTZ NOT NULL);
INSERT INTO lease VALUES (true, '', 0, '-infinity') ON CONFLICT DO NOTHING;
"""
# By the database's clock alone. Whose session has ended is dead, and needs no waiting for.
_TAKE = """
UPDATE lease SET holder = CASE WHEN holder = %(mine)s THEN holder ELSE %(new)s END,
  pid = pg_backend_pid(), until = clock_timestamp() + %(seconds)s * interval '1 second'
WHERE holder = %(mine)s OR until < clock_timestamp()
  OR pid NOT IN (SELECT pid FROM pg_stat_activity)
RETURNING holder
"""
_RENEW = """
UPDATE lease SET pid = pg_backend_pid(), until = clock_timestamp() + %s * interval '1 second'
WHERE holder = %s RETURNING true
"""
SERVED = """
SELECT until > clock_timestamp() AND pid IN (SELECT pid FROM pg_stat_activity) FROM lease
"""
"""Whether a server plans now."""


class Lease:
    """The right to plan, for ``seconds`` from the last time that it was renewed.

    A process that was stopped for longer finds that somebody else has it: what it then wants to
    publish is refused by the database itself, since each time that the lease changes hands it has
    another ``holder``.
    """

    def __init__(self, session: Session, seconds: float) -> None:
        self._session = session
        self._seconds = seconds
        self._holder: bytes | None = None
        self._renewed = float("-inf")

    def take(self) -> bool:
        """Return whether the lease is ours, or becomes ours now."""
        if self._holder is not None and time.monotonic() - self._renewed < self._seconds / 3:
            return True
        given = {"mine": self._holder, "new": secrets.token_bytes(16), "seconds": self._seconds}
        # One statement, and no transaction that a process could fall asleep in.
        with self._session.open() as session:
            row = session.execute(_TAKE, given).fetchone()
        self._holder = None if row is None else row[0]
        self._renewed = time.monotonic()
        return self._holder is not None

    def renew(self) -> None:
        """Make the lease last longer if it is ours; never take it."""
        if self._holder is None:
            return
        with self._session.open() as session:
            row = session.execute(_RENEW, (self._seconds, self._holder)).fetchone()
        self._renewed = float("-inf") if row is None else time.monotonic()

    def hold(self, session: psycopg.Connection[Any]) -> None:
        """Refuse to go on unless the lease is ours, which it is until the transaction ends."""
        held = "SELECT true FROM lease WHERE holder = %s FOR UPDATE"
        if session.execute(held, (self._holder,)).fetchone() is None:
            raise DelayedError("database-down", "another server plans now: its lease began")
