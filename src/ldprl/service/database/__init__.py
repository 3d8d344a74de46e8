"""Where a deployment, its plans and its sums are kept: SQLite for one machine, or PostgreSQL."""

from __future__ import annotations

from ldprl.errors import InputError
from ldprl.protocol.deployment import Deployment
from ldprl.service.database.protocol import LEASE_SECONDS, Database, without_password


def open_database(
    url: str, deployment: Deployment, lease_seconds: float = LEASE_SECONDS
) -> Database:
    """Open the database at ``url``, which from then on holds ``deployment`` and no other.

    Parameters
    ----------
    url
        ``sqlite:///PATH`` (four slashes before an absolute path) or ``postgresql://…``.
    deployment
        What to serve. If the database holds another deployment, it is refused.
    lease_seconds
        With PostgreSQL: after how long without a sign of the server that plans another one does.
    """
    path = path_of(url)
    if path is not None:
        from ldprl.service.database.sqlite import SqliteDatabase

        return SqliteDatabase(path, deployment)
    from ldprl.service.database.postgres import PostgresDatabase

    return PostgresDatabase(url, deployment, lease_seconds)


def path_of(url: str) -> str | None:
    """Return the path of an SQLite database's file, or None for PostgreSQL."""
    kind, separator, path = url.partition("://")
    if kind == "sqlite" and separator and len(path) > 1 and path[0] == "/":
        return path[1:]
    if kind in ("postgresql", "postgres") and separator:
        return None
    raise InputError(
        "database", without_password(url), "sqlite:///PATH or postgresql://USER@HOST/NAME"
    )
