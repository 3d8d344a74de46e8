"""``ldprl backup`` and ``ldprl restore``: a service's database, copied while it is in use."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ldprl.cli.options import Json
from ldprl.cli.show import show_json

if TYPE_CHECKING:
    from ldprl.service.backup import Content

Database = Annotated[
    str,
    typer.Option(metavar="URL", envvar="LDPRL_DATABASE", help="sqlite:///PATH or postgresql://…."),
]
File = Annotated[Path, typer.Argument(metavar="FILE", help="The backup.")]


def backup(file: File, database: Database, as_json: Json = False) -> None:
    """Copy a service's database, as it is at one moment, while servers go on using it.

    The copy is one file, which **ldprl restore** takes for SQLite and PostgreSQL alike. A file that
    exists is not overwritten.
    """
    from ldprl.service.backup import back_up

    _show("wrote", file, back_up(database, file), as_json)


def restore(file: File, database: Database, as_json: Json = False) -> None:
    """Copy a backup into a new database; one that exists is not overwritten."""
    from ldprl.service.backup import restore as copy

    _show("restored", file, copy(file, database), as_json)


def _show(done: str, file: Path, content: Content, as_json: bool) -> None:
    if as_json:
        deployment = content.deployment
        show_json(
            {
                "file": str(file),
                "deployment": deployment.name,
                "digest": deployment.digest,
                "version": content.version,
                "reports": content.users,
            }
        )
    else:
        print(f"{done} {file}: {content}")
