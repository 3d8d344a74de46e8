"""Copies of a database, taken while servers use it, in one format for both kinds of database.

A backup is an SQLite file with the tables of :mod:`ldprl.service.database.sqlite`, compressed
by xz, whose SHA-256 covers every bit of it. It can be restored into SQLite or PostgreSQL, wherever
it came from.
"""

from __future__ import annotations

import contextlib
import itertools
import lzma
import os
import shutil
import sqlite3
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from uuid import UUID

from ldprl.disk import sync_path
from ldprl.errors import InputError
from ldprl.protocol.deployment import Deployment
from ldprl.service.causes import DelayedError
from ldprl.service.database import path_of
from ldprl.service.database.protocol import without_password
from ldprl.service.database.rows import checksum_of_id, with_checksum
from ldprl.service.database.schema import FIRST_CHECKED, SCHEMA, is_new, read_meta
from ldprl.service.database.sqlite import TABLES, columns_of, ids_of, migrate, snapshot_of
from ldprl.service.integrity import check_integrity

_IDS_PER_ROW = 4096
"""Ids in one row of SQLite's table."""
_SQLITE = b"SQLite format 3\0"
"""What SQLite files begin with; backups of tables of version 1 were not compressed."""
_PRESET = 1
"""Of xz: a third of the time of the next one; ids are random and no preset makes them shorter."""
_CHUNK = 2**20
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
    with _new_file(file, "file") as partial, _scratch(partial) as scratch:
        with _connected(scratch) as copy:
            if path is not None:
                with _opened(path, "database") as source:
                    source.backup(copy)
            else:
                _read_postgres(url, copy)
            content = _checked(copy, "database", without_password(url))
        compress(scratch, partial)
    return content


def restore(file: Path, url: str) -> Content:
    """Copy a backup into the database at ``url``, which must be new."""
    path = path_of(url)
    if not file.is_file():
        raise InputError("file", str(file), "a file that exists")
    if path is not None:
        with _new_file(Path(path), "database") as partial:
            return _unpacked(file, partial)
    with tempfile.TemporaryDirectory(prefix="ldprl-") as folder:
        copy = Path(folder) / "copy.sqlite"
        content = _unpacked(file, copy)
        with _connected(copy) as source:
            _write_postgres(source, url)
    return content


def _unpacked(file: Path, path: Path) -> Content:
    """Write the database in a backup to ``path``, and return what it holds if it is whole."""
    with file.open("rb") as content:
        is_old = content.read(len(_SQLITE)) == _SQLITE
    if is_old:
        shutil.copyfile(file, path)
    else:
        decompress(file, path)
    with _connected(path) as copy:
        return _checked(copy, "file", str(file), packed=not is_old)


def _checked(
    copy: sqlite3.Connection, field: str, place: str, *, packed: bool | None = None
) -> Content:
    """Return what a copy holds, or refuse it if it is not whole; an old one becomes a new one.

    ``packed``: whether it was compressed, if it is a backup.
    """
    try:
        copy.execute("PRAGMA journal_mode = DELETE")
        ((schema,),) = copy.execute("PRAGMA user_version")
        if is_new(columns_of(copy), schema, place):
            raise InputError(field, place, "a service's database, whole (it has no tables)")
        if packed is not None and packed != (schema >= FIRST_CHECKED):
            raise InputError(
                field, place, "a file of `ldprl database backup`; serve a database as it is"
            )
        ((verdict,),) = copy.execute("PRAGMA quick_check(1)")
        if verdict != "ok":
            raise InputError(field, place, f"a service's database, whole ({verdict})")
        copy.execute("BEGIN")
        migrate(copy, field, place)
        copy.execute("COMMIT")
        _, kept = read_meta(copy.execute("SELECT * FROM meta").fetchall(), field, place)
        deployment = Deployment.from_document(kept)
        found = snapshot_of(copy)
        check_integrity(found, deployment)
    except (sqlite3.Error, DelayedError) as error:
        reason = error.detail if isinstance(error, DelayedError) else str(error)
        raise InputError(field, place, f"a service's database, whole ({reason})") from None
    return Content(deployment, len(found.plans), sum(one.users for one in found.sums))


@contextlib.contextmanager
def _opened(path: str, field: str) -> Iterator[sqlite3.Connection]:
    """Open an SQLite file for reading."""
    if not Path(path).is_file():
        raise InputError(field, path, "a file that exists")
    # Not read-only: a file that a server uses has parts that only a writer may open.
    with _connected(Path(path)) as connection:
        try:
            connection.execute("SELECT count(*) FROM sqlite_schema")
            yield connection
        except sqlite3.DatabaseError as error:
            raise InputError(field, path, f"an SQLite database ({error})") from None


@contextlib.contextmanager
def _connected(path: Path) -> Iterator[sqlite3.Connection]:
    """Open an SQLite file, created if it does not exist."""
    with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as connection:
        yield connection


@contextlib.contextmanager
def _new_file(path: Path, field: str) -> Iterator[Path]:
    """Make a file that has its name once it is complete and on disk, or not at all."""
    taken = InputError(field, str(path), "a file that does not exist yet")
    if path.exists():
        raise taken
    try:
        with _scratch(path) as partial:
            yield partial
            sync_path(partial)
            # A link is refused where a rename would overwrite.
            os.link(partial, path)
    except FileExistsError:
        raise taken from None
    except OSError as error:
        raise InputError(field, str(path), f"a file to write ({error.strerror})") from None
    sync_path(path.parent)


@contextlib.contextmanager
def _scratch(path: Path) -> Iterator[Path]:
    """Make a file beside ``path`` that only its owner can read, and delete it at the end."""
    partial = path.with_name(path.name + ".partial")
    partial.unlink(missing_ok=True)
    os.close(os.open(partial, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
    try:
        yield partial
    finally:
        partial.unlink(missing_ok=True)


def _read_postgres(url: str, copy: sqlite3.Connection) -> None:
    """Read everything in one snapshot: what other sessions commit meanwhile is not in it."""
    from ldprl.service.database import ids, postgres

    with postgres.one_transaction(url) as session:
        session.execute(ids.SNAPSHOT)
        [[schema]] = session.execute("SELECT to_jsonb(meta) ->> 'schema' FROM meta")
        if schema != str(SCHEMA):
            expected = f"tables of version {SCHEMA}; back up with the version that serves them"
            raise InputError("database", without_password(url), expected)
        versions = sorted(ids.ids_by_version(session))
        copy.execute("BEGIN")
        for statement in TABLES.split(";"):
            copy.execute(statement)
        copy.execute(f"PRAGMA user_version = {SCHEMA}")
        for table in ("meta", *_PLAIN):
            columns = [row[1] for row in copy.execute(f"PRAGMA table_info({table})")]
            rows = session.execute(f"SELECT {', '.join(columns)} FROM {table}")
            marks = ", ".join("?" * len(columns))
            copy.executemany(f"INSERT INTO {table} VALUES ({marks})", rows)
        # On the server, so that millions of ids are not in memory at once.
        for version in versions:
            with session.cursor("ids") as cursor:
                cursor.itersize = 10 * _IDS_PER_ROW
                cursor.execute(f"SELECT uuid_send(id) FROM ids_{version}")
                copy.executemany("INSERT INTO ids VALUES (?, ?, ?, ?)", _packed(version, cursor))
        copy.execute("COMMIT")


def _packed(version: int, rows: Iterator[tuple[bytes]]) -> Iterator[tuple[int, int, bytes, bytes]]:
    """Return rows of SQLite's table of ids: version, number, many ids in one, the checksum."""
    for number in itertools.count(1):
        packed = b"".join(one for (one,) in itertools.islice(rows, _IDS_PER_ROW))
        if not packed:
            break
        yield with_checksum(version, number, packed)


def _write_postgres(source: sqlite3.Connection, url: str) -> None:
    """Write everything in one transaction, into a database without tables of ours."""
    from ldprl.service.database import ids, postgres

    with postgres.one_transaction(url) as session:
        # No server makes its tables meanwhile.
        session.execute("SELECT pg_advisory_xact_lock(%s)", (postgres.SETUP_LOCK,))
        found = session.execute("SELECT to_regclass('meta') IS NOT NULL").fetchone()
        if found == (True,):
            place = without_password(url)
            raise InputError("database", place, "a new database: this one is in use")
        session.execute(postgres.TABLES)
        columns = "deployment, secret, paused, plan_wanted, forgotten, checksum"
        (meta,) = source.execute(f"SELECT {columns} FROM meta")
        text, secret, paused, wanted, forgotten, check = meta
        session.execute(
            f"INSERT INTO meta (one, schema, {columns}) VALUES (true, %s, %s, %s, %s, %s, %s, %s)",
            (SCHEMA, text, secret, bool(paused), wanted, forgotten, check),
        )
        with session.cursor() as cursor:
            for table in _PLAIN:
                with cursor.copy(f"COPY {table} FROM STDIN") as rows:
                    for row in source.execute(f"SELECT * FROM {table}"):
                        rows.write_row(row)
            for (version,) in source.execute("SELECT version FROM plans").fetchall():
                if version > forgotten:
                    cursor.execute(ids.ids_table(version))
            for version, group in itertools.groupby(ids_of(source), key=lambda row: row[0]):
                with cursor.copy(f"COPY ids_{version} FROM STDIN") as rows:
                    for _, packed in group:
                        for start in range(0, len(packed), 16):
                            one = packed[start : start + 16]
                            rows.write_row((UUID(bytes=one), checksum_of_id(one, version)))


def compress(source: Path, path: Path) -> None:
    """Write the content of ``source`` to ``path``, compressed."""
    with (
        source.open("rb") as content,
        lzma.open(path, "wb", check=lzma.CHECK_SHA256, preset=_PRESET) as packed,
    ):
        shutil.copyfileobj(content, packed, _CHUNK)


def decompress(source: Path, path: Path) -> None:
    """Write what :func:`compress` made of a file to ``path``; refuse a file that was changed."""
    unpacker = lzma.LZMADecompressor(lzma.FORMAT_XZ)
    try:
        with source.open("rb") as packed, path.open("wb") as content:
            while not unpacker.eof:
                more = packed.read(_CHUNK) if unpacker.needs_input else b""
                if unpacker.needs_input and not more:
                    raise lzma.LZMAError("it is cut short")
                content.write(unpacker.decompress(more, _CHUNK))
            if unpacker.check != lzma.CHECK_SHA256:
                raise lzma.LZMAError("it has no SHA-256")
            if unpacker.unused_data or packed.read(1):
                raise lzma.LZMAError("something follows its end")
    except lzma.LZMAError as error:
        raise InputError("file", str(source), f"a whole backup ({error})") from None
