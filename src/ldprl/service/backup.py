"""Copies of a database, taken while servers use it, in one format for both kinds of database.

A backup is an SQLite file with the tables of :mod:`ldprl.service.database.sqlite`. It can be
restored into SQLite or PostgreSQL, wherever it came from, and served as it is.
"""

from __future__ import annotations

import contextlib
import itertools
import json
import os
import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ldprl.disk import sync_path
from ldprl.errors import InputError
from ldprl.protocol.deployment import Deployment
from ldprl.service.database import path_of
from ldprl.service.database.protocol import without_password
from ldprl.service.database.schema import SCHEMA, is_new
from ldprl.service.database.sqlite import TABLES, columns_of

_IDS_PER_ROW = 4096
"""Ids in one row of SQLite's table."""
_PLAIN = ("plans", "sums", "outcomes")
"""Tables that have the same columns in both kinds of database."""


@dataclass(frozen=True)
class Content:
    """What a backup holds: the deployment, the plan in force, and the reports counted."""

    deployment: Deployment
    version: int
    users: int

    def __str__(self) -> str:
        deployment = self.deployment
        return (
            f"{deployment.name}, version {self.version}, {self.users} reports;"
            f" digest {deployment.digest}"
        )


def back_up(url: str, file: Path) -> Content:
    """Copy the database at ``url``, as it is at one moment, into a new ``file``."""
    path = path_of(url)
    with _new_file(file, "file") as copy:
        if path is not None:
            with _opened(path, "database") as source:
                source.backup(copy)
        else:
            _read_postgres(url, copy)
        return _checked(copy, url)


def restore(file: Path, url: str) -> Content:
    """Copy a backup into the database at ``url``, which must be new."""
    path = path_of(url)
    with _opened(str(file), "file") as source:
        content = _checked(source, str(file))
        if path is None:
            _write_postgres(source, url)
        else:
            with _new_file(Path(path), "database") as copy:
                source.backup(copy)
    return content


def _checked(copy: sqlite3.Connection, place: str) -> Content:
    """Return what a copy holds, or refuse it if it is not whole."""
    ((schema,),) = copy.execute("PRAGMA user_version")
    if is_new(columns_of(copy), schema, place):
        raise InputError("file", place, "a whole backup (it has no tables)")
    try:
        ((verdict,),) = copy.execute("PRAGMA quick_check(1)")
        ((text, forgotten),) = copy.execute("SELECT deployment, forgotten FROM meta")
        ((version,),) = copy.execute("SELECT coalesce(max(version), 0) FROM plans")
        ((users,),) = copy.execute("SELECT coalesce(sum(users), 0) FROM sums")
        open_users = "SELECT coalesce(sum(users), 0) FROM sums WHERE version > ?"
        ((counted,),) = copy.execute(open_users, (forgotten,))
        open_ids = "SELECT coalesce(sum(length(packed)), 0) / 16 FROM ids WHERE version > ?"
        ((ids,),) = copy.execute(open_ids, (forgotten,))
    except (sqlite3.Error, ValueError) as error:
        raise InputError("file", place, f"a whole backup ({error})") from None
    # Each report that is counted has its id on file until its version is closed.
    if verdict != "ok" or ids != counted:
        wrong = verdict if verdict != "ok" else f"{counted} reports and {ids} ids"
        raise InputError("file", place, f"a whole backup ({wrong})")
    return Content(Deployment.from_document(json.loads(text)), version, users)


@contextlib.contextmanager
def _opened(path: str, field: str) -> Iterator[sqlite3.Connection]:
    """Open an SQLite file for reading."""
    if not Path(path).is_file():
        raise InputError(field, path, "a file that exists")
    # Not read-only: a file that a server uses has parts that only a writer may open.
    with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as connection:
        try:
            connection.execute("SELECT count(*) FROM sqlite_schema")
            yield connection
        except sqlite3.DatabaseError as error:
            raise InputError(field, path, f"an SQLite database ({error})") from None


@contextlib.contextmanager
def _new_file(path: Path, field: str) -> Iterator[sqlite3.Connection]:
    """Make an SQLite file that has its name once it is complete and on disk, or not at all."""
    partial = path.with_name(path.name + ".partial")
    taken = InputError(field, str(path), "a file that does not exist yet")
    if path.exists():
        raise taken
    partial.unlink(missing_ok=True)
    try:
        os.close(os.open(partial, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
    except OSError as error:
        raise InputError(field, str(path), f"a file to write ({error.strerror})") from None
    try:
        with contextlib.closing(sqlite3.connect(partial, isolation_level=None)) as connection:
            yield connection
            connection.execute("PRAGMA journal_mode = DELETE")
        sync_path(partial)
        # A link is refused where a rename would overwrite.
        os.link(partial, path)
    except FileExistsError:
        raise taken from None
    finally:
        partial.unlink(missing_ok=True)
    sync_path(path.parent)


def _read_postgres(url: str, copy: sqlite3.Connection) -> None:
    """Read everything in one snapshot: what other sessions commit meanwhile is not in it."""
    with _postgres(url) as session:
        session.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY")
        ((schema,),) = session.execute("SELECT to_jsonb(meta) ->> 'schema' FROM meta")
        copy.execute("BEGIN")
        for statement in TABLES.split(";"):
            copy.execute(statement)
        copy.execute(f"PRAGMA user_version = {int(schema or 0)}")
        meta = "SELECT deployment, secret, paused::integer, plan_wanted, forgotten FROM meta"
        copy.executemany("INSERT INTO meta VALUES (?, ?, ?, ?, ?)", session.execute(meta))
        for table in _PLAIN:
            rows = session.execute(f"SELECT * FROM {table}")
            marks = ", ".join("?" * len(rows.description or ()))
            copy.executemany(f"INSERT INTO {table} VALUES ({marks})", rows)
        # On the server, so that millions of ids are not in memory at once.
        with session.cursor("ids") as cursor:
            cursor.itersize = 10 * _IDS_PER_ROW
            cursor.execute("SELECT version, id FROM ids ORDER BY version")
            copy.executemany("INSERT INTO ids VALUES (?, ?, ?)", _packed(cursor))
        copy.execute("COMMIT")


def _packed(rows: Iterator[tuple[int, bytes]]) -> Iterator[tuple[int, int, bytes]]:
    """Return rows of SQLite's table of ids: version, number, and many ids in one."""
    for version, group in itertools.groupby(rows, key=lambda row: row[0]):
        for number in itertools.count(1):
            ids = [one for _, one in itertools.islice(group, _IDS_PER_ROW)]
            if not ids:
                break
            yield version, number, b"".join(ids)


def _write_postgres(source: sqlite3.Connection, url: str) -> None:
    """Write everything in one transaction, into a database without tables of ours."""
    from ldprl.service.database.postgres import SETUP_LOCK
    from ldprl.service.database.postgres import TABLES as POSTGRES_TABLES

    with _postgres(url) as session:
        # No server makes its tables meanwhile.
        session.execute("SELECT pg_advisory_xact_lock(%s)", (SETUP_LOCK,))
        found = session.execute("SELECT to_regclass('meta') IS NOT NULL").fetchone()
        if found == (True,):
            place = without_password(url)
            raise InputError("database", place, "a new database: this one is in use")
        session.execute(POSTGRES_TABLES)
        columns = "deployment, secret, paused, plan_wanted, forgotten"
        ((text, secret, paused, *rest),) = source.execute(f"SELECT {columns} FROM meta")
        session.execute(
            f"INSERT INTO meta (one, schema, {columns}) VALUES (true, %s, %s, %s, %s, %s, %s)",
            (SCHEMA, text, secret, bool(paused), *rest),
        )
        with session.cursor() as cursor:
            for table in _PLAIN:
                with cursor.copy(f"COPY {table} FROM STDIN") as rows:
                    for row in source.execute(f"SELECT * FROM {table}"):
                        rows.write_row(row)
            with cursor.copy("COPY ids FROM STDIN") as rows:
                for version, packed in source.execute("SELECT version, packed FROM ids"):
                    for start in range(0, len(packed), 16):
                        rows.write_row((packed[start : start + 16], version))


@contextlib.contextmanager
def _postgres(url: str) -> Iterator[Any]:
    """Open a session for one transaction; what is wrong with the database is said in one line."""
    import psycopg

    try:
        with psycopg.connect(url, connect_timeout=10, application_name="ldprl") as session:
            yield session
    except psycopg.Error as error:
        reason = str(error).strip().partition("\n")[0]
        expected = f"a database that can be used ({reason})"
        raise InputError("database", without_password(url), expected) from None
