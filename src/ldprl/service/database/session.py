"""A session with PostgreSQL that comes back after the database went away."""

from __future__ import annotations

import contextlib
import logging
import threading
import time
from collections.abc import Iterator
from typing import Any

import psycopg
from psycopg.conninfo import make_conninfo

from ldprl.errors import InputError
from ldprl.service.causes import DelayedError
from ldprl.service.database.protocol import without_password

_LONGEST_BACKOFF = 2.0
"""Seconds between two attempts to connect, at most."""
_EVERY = 1.0
"""Seconds between two attempts at the start, before there is a database."""
_AWAY = (psycopg.pq.Ping.REJECT, psycopg.pq.Ping.NO_RESPONSE)
"""It starts or stops, or nobody responds. What a server says of itself, such as that it has no such
database or expects another password, is no reason to wait."""
_log = logging.getLogger("ldprl.service")
NAME = "ldprl/4"
"""What the database calls our sessions; the number is raised with that of the tables."""
SETTINGS = {
    # A statement must see what was committed before it began: commits that waited for the closing
    # of a version would count into it again, with ids that are gone.
    "default_transaction_isolation": "read committed",
    "default_transaction_read_only": "off",
    "default_transaction_deferrable": "off",
    # What is acknowledged is on disk.
    "synchronous_commit": "on",
    "client_encoding": "UTF8",
    "standard_conforming_strings": "on",
    # A server that stops in the middle of a commit holds rows that others wait for: it loses them
    # before they give up.
    "idle_in_transaction_session_timeout": "10s",
    "lock_timeout": "20s",
    # None: PostgreSQL calls a commit done that is cancelled while it waits for its standby, and
    # the deletion of many ids takes long.
    "statement_timeout": "0",
    "transaction_timeout": "0",
    "idle_session_timeout": "0",
    # The server's side notices within half a minute that a machine of ours is gone.
    "tcp_keepalives_idle": "10",
    "tcp_keepalives_interval": "5",
    "tcp_keepalives_count": "3",
    "tcp_user_timeout": "10000",
}
"""What every session relies on, whatever the server, the database or the role has by default."""
_SET = (
    "SELECT set_config(name, value, false) FROM unnest(%s::text[], %s::text[])"
    # Older servers do not know all of them.
    " AS given (name, value) WHERE name IN (SELECT name FROM pg_settings)"
)


def connect(url: str) -> psycopg.Connection[Any]:
    """Open a session with all that is relied on; each statement is a transaction of its own."""
    connection = psycopg.connect(
        url,
        autocommit=True,
        connect_timeout=3,
        application_name=NAME,
        keepalives=1,
        keepalives_idle=10,
        keepalives_interval=5,
        keepalives_count=3,
        tcp_user_timeout=10_000,
    )
    try:
        connection.execute(_SET, (list(SETTINGS), list(SETTINGS.values())))
    except BaseException:
        connection.close()
        raise
    return connection


class Session:
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
        with self.open() as connection, connection.transaction():
            yield connection

    @contextlib.contextmanager
    def open(self) -> Iterator[psycopg.Connection[Any]]:
        """Lend the connection to one caller; a transaction that is left open has no effect."""
        with self._lock:
            connection = self._connected()
            try:
                yield connection
            except psycopg.Error as error:
                delayed = _delayed(error)
                if connection.closed or connection.broken:
                    self._connection = None
                if delayed is None:
                    raise
                raise delayed from None
            finally:
                with contextlib.suppress(psycopg.Error):
                    connection.rollback()

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
            self._connection = connect(self._url)
        except psycopg.Error as error:
            self._backoff = min(max(2 * self._backoff, 0.1), _LONGEST_BACKOFF)
            self._not_before = time.monotonic() + self._backoff
            raise DelayedError("database-down", first_line(error)) from None
        self._backoff = 0.0
        return self._connection


def _delayed(error: psycopg.Error) -> DelayedError | None:
    """Return when to repeat the request, or None if the statement itself was wrong."""
    if error.sqlstate == "53100":
        return DelayedError("storage-full", "the database cannot grow: its disk is full")
    if isinstance(error, psycopg.OperationalError | psycopg.InterfaceError):
        return DelayedError("database-down", "the database does not respond")
    return None


def first_line(error: psycopg.Error) -> str:
    """Return an error's message without the lines that explain it."""
    return str(error).strip().partition("\n")[0]


def wait_for_postgres(url: str, seconds: float) -> None:
    """Return once a PostgreSQL responds at ``url``; refuse one that has not within ``seconds``."""
    place = without_password(url)
    try:
        asked = make_conninfo(url, connect_timeout=3).encode()
    except psycopg.Error as error:
        expected = f"an address that PostgreSQL understands ({first_line(error)})"
        raise InputError("database", place, expected) from None
    deadline, told = time.monotonic() + seconds, False
    while psycopg.pq.PGconn.ping(asked) in _AWAY:
        if time.monotonic() >= deadline:
            expected = f"one that responds within {seconds:g} s"
            raise InputError("database", place, expected)
        if not told:
            _log.warning("%s does not respond: waiting for %g s at most", place, seconds)
            told = True
        time.sleep(min(_EVERY, max(deadline - time.monotonic(), 0)))
    if told:
        _log.info("%s responds", place)
