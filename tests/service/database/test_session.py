"""What the code relies on is set in every session, whatever the server has by default."""

from __future__ import annotations

import contextlib
import threading
import time
from pathlib import Path

import psycopg
import pytest

from ldprl.service.database import open_database, postgres
from ldprl.service.database.postgres import PostgresDatabase, one_transaction
from ldprl.service.database.protocol import Verdict
from ldprl.service.database.session import SETTINGS, Session
from ldprl.service.database.sqlite import SqliteDatabase
from ldprl.service.database.sqlite_file import PRAGMAS

from ..cluster import Postgres
from .test_database import deployment, opened, reports
from .test_schema import content, execute

HOSTILE = {
    "default_transaction_isolation": "repeatable read",
    "default_transaction_read_only": "on",
    "default_transaction_deferrable": "on",
    "synchronous_commit": "off",
    "client_encoding": "LATIN1",
    "standard_conforming_strings": "off",
    "idle_in_transaction_session_timeout": "0",
    "lock_timeout": "0",
    "statement_timeout": "500ms",
    "idle_session_timeout": "5s",
    "tcp_keepalives_idle": "7200",
    "tcp_keepalives_interval": "75",
    "tcp_keepalives_count": "9",
    "tcp_user_timeout": "0",
}
"""Defaults of a database, as an operator may have set them for other programs."""
OF_LATER_SERVERS = {"transaction_timeout"}
"""Settings that PostgreSQL 15 does not have."""


@pytest.fixture
def hostile(postgres: Postgres) -> str:
    """The address of an empty database with such defaults."""
    url = postgres.database()
    name = url.rpartition("/")[2]
    for setting, value in HOSTILE.items():
        execute(postgres.url, f"ALTER DATABASE {name} SET {setting} = '{value}'")
    return url


def test_every_session_has_what_is_relied_on(hostile: str) -> None:
    assert HOSTILE.keys() | OF_LATER_SERVERS == SETTINGS.keys(), "each has a hostile default here"
    relied_on = {name: SETTINGS[name] for name in HOSTILE}
    with contextlib.closing(open_database(hostile, deployment())) as database:
        sessions = [one for one in vars(database).values() if isinstance(one, Session)]
        assert len(sessions) == 3
        for session in sessions:
            with session.transaction() as connection:
                assert found(connection) == relied_on
                assert shown(connection, "transaction_isolation") == "read committed"
    # What copies databases has no rows that others wait for.
    with one_transaction(hostile) as connection:
        assert found(connection) == relied_on | {"idle_in_transaction_session_timeout": "0"}


def found(connection: psycopg.Connection[tuple[str]]) -> dict[str, str]:
    return {name: shown(connection, name) for name in HOSTILE}


def shown(connection: psycopg.Connection[tuple[str]], name: str) -> str:
    row = connection.execute(f"SHOW {name}").fetchone()
    assert row is not None
    return row[0]


def test_our_side_notices_a_server_that_is_gone(postgres: Postgres) -> None:
    """Within 25 seconds, and not after Linux' two hours."""
    session = Session(postgres.database())
    with session.open() as connection:
        options = connection.info.get_parameters()
    session.close()
    idle, interval, count = (
        int(options[f"keepalives_{part}"]) for part in ("idle", "interval", "count")
    )
    assert idle + interval * count <= 25
    assert int(options["tcp_user_timeout"]) <= 25_000


def test_a_commit_that_waited_reads_what_was_closed_meanwhile(hostile: str) -> None:
    """A copy of a counted report comes just as its version is closed and the ids are deleted.

    Its commit waits for that. With the snapshot of when it began to wait, it counts the report
    again.
    """
    service = opened(hostile)
    counted = reports(service, 0, 1)
    assert service.database.commit(counted, {}) == ["counted"]
    service.database.want_plan(1)
    service.planner.step()
    verdicts: list[list[Verdict]] = []
    again = threading.Thread(target=lambda: verdicts.append(service.database.commit(counted, {})))
    with psycopg.connect(hostile, options="-c statement_timeout=0") as session:
        session.read_only = False
        session.execute("SELECT pg_advisory_xact_lock(%s)", (postgres._FORGET_LOCK,))
        again.start()
        waiting = "SELECT true FROM pg_locks WHERE NOT granted AND locktype = 'advisory'"
        deadline = time.monotonic() + 10
        while not content(hostile, waiting):
            assert time.monotonic() < deadline
        postgres._change(session, forgotten=1)
        session.execute("DELETE FROM ids")
    again.join()
    assert verdicts == [["expired-version"]]
    assert service.database.state().users == 1
    service.database.close()


def test_a_version_is_closed_when_the_commits_that_began_before_have_ended(
    postgres: Postgres,
) -> None:
    """Or one of them would keep an id whose version has been cleared of ids."""
    service = opened(postgres.database())
    assert isinstance(service.database, PostgresDatabase)
    url = service.settings.database_url
    closing = threading.Thread(target=service.database.forget, args=(1,))
    with service.database._committing.open() as session:
        service.database._begin(session, reports(service, 0, 1))
        closing.start()
        deadline = time.monotonic() + 5
        while not content(url, "SELECT true FROM pg_locks WHERE NOT granted"):
            assert time.monotonic() < deadline
        assert content(url, "SELECT forgotten FROM meta") == [(0,)]
    closing.join()
    assert content(url, "SELECT forgotten FROM meta") == [(1,)]
    service.database.close()


def test_every_connection_of_a_file_syncs_its_commits(tmp_path: Path) -> None:
    path = tmp_path / "one.sqlite"
    open_database(f"sqlite:///{path}", deployment()).close()
    execute(f"sqlite:///{path}", "PRAGMA journal_mode = DELETE")
    database = open_database(f"sqlite:///{path}", deployment())
    assert isinstance(database, SqliteDatabase)
    assert len(database._connections) == 2
    for connection in database._connections:
        for name, value in PRAGMAS.items():
            assert connection.execute(f"PRAGMA {name}").fetchone() == (value,), name
    assert PRAGMAS["journal_mode"] == "wal"
    assert PRAGMAS["synchronous"] == 2
    database.close()


@pytest.mark.slow
def test_a_server_that_stops_within_a_commit_holds_the_others_up_for_a_moment(
    postgres: Postgres,
) -> None:
    """It holds the rows of the sums; after 10 seconds the database takes them from it."""
    url = postgres.database()
    stopped, other = opened(url), opened(url)
    assert isinstance(stopped.database, PostgresDatabase)
    try:
        with stopped.database._committing.open() as session:
            stopped.database._begin(session, reports(stopped, 0, 5))
            started = time.monotonic()
            assert other.database.commit(reports(other, 3, 5), {}) == ["counted"] * 5
            assert 5 < time.monotonic() - started < 15
        assert other.database.state().users == 5
    finally:
        stopped.database.close()
        other.database.close()
