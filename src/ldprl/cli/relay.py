"""``ldprl relay`` and ``ldprl keypair``: mixing reports between clients and a service."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ldprl.cli.numbers import count, decimal
from ldprl.cli.options import Json, LogFormat
from ldprl.cli.show import show_json


def relay(
    service: Annotated[str, typer.Option(metavar="URL", help="Where the service is.")],
    database: Annotated[
        str, typer.Option(metavar="FILE", help="The relay's SQLite file.")
    ] = "relay.sqlite",
    host: Annotated[str, typer.Option(metavar="HOST", help="Address to listen on.")] = "127.0.0.1",
    port: Annotated[str, typer.Option(metavar="PORT", help="Port; 0 takes a free one.")] = "8001",
    linger: Annotated[
        str,
        typer.Option(
            metavar="T", help="Seconds to wait for users in mid-episode once the crowd is there."
        ),
    ] = "30",
    rate_limit: Annotated[
        str,
        typer.Option(metavar="N", help="Requests a second from one address; 0 for no limit."),
    ] = "1000",
    digest: Annotated[
        str | None,
        typer.Option(metavar="HEX", help="The deployment to relay for; without it, any."),
    ] = None,
    token: Annotated[
        str,
        typer.Option(
            metavar="TOKEN",
            envvar="LDPRL_RELAY_TOKEN",
            help="What the service knows this relay by; better in the environment.",
        ),
    ] = "",
    log: LogFormat = "text",
) -> None:
    """Hold sealed reports, and hand them over when a crowd is there: never fewer.

    To be run by somebody else than the service. See the page on the relay for who may know what.
    """
    from ldprl.errors import InputError
    from ldprl.relay.run import relay as run

    if not token:
        raise InputError("token", token, "the relay's token, in LDPRL_RELAY_TOKEN")
    seconds = decimal("linger", linger)
    if not 0 <= seconds <= 86400:
        raise InputError("linger", linger, "seconds, from 0 to a day")
    run(
        service,
        token,
        database,
        host,
        count("port", port, 0, 65535),
        linger=seconds,
        rate=count("rate_limit", rate_limit, 0),
        digest=digest,
        log_format=log,
    )


def keypair(
    out: Annotated[Path, typer.Option(metavar="FILE", help="Where the private key goes.")],
    as_json: Json = False,
) -> None:
    """Make the key that reports are sealed to; print its public half, for [shuffle] key = "…".

    The private half is written to a new file that only its owner may read.
    """
    import os

    from ldprl.errors import InputError
    from ldprl.protocol.sealing import new_private_key, opener

    private = new_private_key()
    try:
        handle = os.open(out, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except OSError as error:
        raise InputError("out", str(out), f"a new file ({error.strerror})") from None
    with os.fdopen(handle, "w") as file:
        file.write(private + "\n")
    public = opener(private).key
    if as_json:
        show_json({"key": public, "private": str(out)})
    else:
        print(public)


def read_key(path: Path) -> str:
    """Read a private key's file."""
    from ldprl.errors import InputError

    try:
        return path.read_text(encoding="ascii").strip()
    except (OSError, UnicodeDecodeError):
        raise InputError("private_key", str(path), "a file from ldprl keypair") from None
