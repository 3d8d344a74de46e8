"""``ldprl database``: back up a service's database while it is in use, and restore it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ldprl.cli import options
from ldprl.cli.group import subgroup
from ldprl.cli.show import show_result

if TYPE_CHECKING:
    from ldprl.service.backup import Content

Database = Annotated[
    str, options.text("URL", "sqlite:///PATH or postgresql://….", envvar="LDPRL_DATABASE")
]
File = Annotated[Path, typer.Argument(metavar="FILE", help="The backup.")]
database = subgroup("Back up a service's database, and restore it.")


@database.command(
    epilog="Example: **ldprl database backup clinic.backup"
    " --database postgresql://ldprl@localhost/clinic**"
)
def backup(file: File, database: Database, as_json: options.Json = False) -> None:
    """Copy a service's database, as it is at one moment, while servers continue to use it.

    The copy is one file, which **ldprl database restore** takes for SQLite and PostgreSQL alike. A
    file that exists is not overwritten.
    """
    from ldprl.service.backup import back_up

    _show("wrote", file, back_up(database, file), as_json)


@database.command(
    epilog="Example: **ldprl database restore clinic.backup --database sqlite:///clinic.sqlite**"
)
def restore(file: File, database: Database, as_json: options.Json = False) -> None:
    """Copy a backup into a new database; one that exists is not overwritten."""
    from ldprl.service.backup import restore as copy

    _show("restored", file, copy(file, database), as_json)


def _show(done: str, file: Path, content: Content, as_json: bool) -> None:
    deployment = content.deployment
    document = {
        "file": str(file),
        "deployment": deployment.name,
        "digest": deployment.digest,
        "version": content.version,
        "reports": content.users,
    }
    show_result(as_json, document, f"{done} {file}: {content}")
