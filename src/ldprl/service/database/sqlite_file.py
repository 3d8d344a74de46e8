"""What every SQLite file here has in common: durable commits, and errors that ask to come back."""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Iterator

from ldprl.service.causes import DelayedError
from ldprl.service.database.locked_file import LockedFile

COUNT = (
    "INSERT INTO outcomes VALUES (?, ?) "
    "ON CONFLICT (name) DO UPDATE SET count = count + excluded.count"
)


def connect(path: str) -> sqlite3.Connection:
    """Open a file for several threads that take turns; transactions are begun by hand."""
    return sqlite3.connect(path, isolation_level=None, check_same_thread=False, timeout=5)


PRAGMAS = {
    # Readers continue beside the one writer.
    "journal_mode": "wal",
    # Sync every commit (FULL), on a Mac as far as its disk.
    "synchronous": 2,
    "fullfsync": 1,
    "temp_store": 2,
    "journal_size_limit": 67108864,
}
"""What every connection relies on, as SQLite names the values."""


def make_durable(connection: sqlite3.Connection, cache_kib: int) -> None:
    """Set what is relied on, whatever the file or the library has by default."""
    for name, value in {**PRAGMAS, "cache_size": -cache_kib}.items():
        connection.execute(f"PRAGMA {name} = {value}")


@contextlib.contextmanager
def transaction(connection: sqlite3.Connection, file: LockedFile) -> Iterator[sqlite3.Connection]:
    """Run all or nothing; whatever the database does wrong is a DelayedError."""
    try:
        connection.execute("BEGIN IMMEDIATE")
        yield connection
        connection.execute("COMMIT")
    except BaseException as error:
        with contextlib.suppress(sqlite3.Error):
            connection.execute("ROLLBACK")
        if isinstance(error, sqlite3.Error):
            raise delayed(error) from error
        raise
    # A file without a name takes commits too, and nobody would ever find them.
    file.check()


def delayed(error: sqlite3.Error) -> DelayedError:
    """Return why the same request may succeed later."""
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
    if code in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB):
        return DelayedError("database-down", f"the database is damaged ({error})")
    if code in (sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR):
        return DelayedError("storage-full", "the database cannot grow: its disk is full or fails")
    return DelayedError("database-down", f"the database does not respond ({type(error).__name__})")
