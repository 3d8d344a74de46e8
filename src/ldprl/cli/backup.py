"""``ldprl backup`` and ``ldprl restore``: a service's database, copied while it is in use."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

Database = Annotated[
    str,
    typer.Option(metavar="URL", envvar="LDPRL_DATABASE", help="sqlite:///PATH or postgresql://…."),
]
File = Annotated[Path, typer.Argument(metavar="FILE", help="The backup.")]


def backup(file: File, database: Database) -> None:
    """Copy a service's database, as it is at one moment, while servers go on using it.

    The copy is one file, which **ldprl restore** takes for SQLite and PostgreSQL alike. A file that
    exists is not overwritten.
    """
    from ldprl.service.backup import back_up

    print(f"wrote {file}: {back_up(database, file)}")


def restore(file: File, database: Database) -> None:
    """Copy a backup into a new database; one that exists is not overwritten."""
    from ldprl.service.backup import restore as copy

    print(f"restored {file}: {copy(file, database)}")
