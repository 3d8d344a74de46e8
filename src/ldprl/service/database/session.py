"""A session with PostgreSQL that comes back after the database went away."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Iterator
from typing import Any

import psycopg

from ldprl.service.causes import DelayedError

_LONGEST_BACKOFF = 2.0
"""Seconds between two attempts to connect, at most."""


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
