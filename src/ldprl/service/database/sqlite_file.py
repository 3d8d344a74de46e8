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


def make_durable(connection: sqlite3.Connection, cache_kib: int) -> None:
    """Sync every commit, and let readers continue beside the one writer."""
    for pragma in (
        "journal_mode = WAL",
        "synchronous = FULL",
        "temp_store = MEMORY",
        f"cache_size = -{cache_kib}",
        "journal_size_limit = 67108864",
    ):
        connection.execute(f"PRAGMA {pragma}")


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
