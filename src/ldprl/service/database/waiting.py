"""A server that starts before its database waits for it."""

from __future__ import annotations

import logging
import time

import psycopg
from psycopg.conninfo import make_conninfo

from ldprl.errors import InputError
from ldprl.service.database.protocol import without_password
from ldprl.service.database.session import first_line

_EVERY = 1.0
"""Seconds between two attempts."""
_AWAY = (psycopg.pq.Ping.REJECT, psycopg.pq.Ping.NO_RESPONSE)
"""It starts or stops, or nobody responds. What a server says of itself, such as that it has no such
database or expects another password, is no reason to wait."""
_log = logging.getLogger("ldprl.service")


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
