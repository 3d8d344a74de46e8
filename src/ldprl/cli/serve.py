"""``ldprl serve`` and ``ldprl admin-token``: the loop over HTTP."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ldprl.cli.numbers import count, decimal, warn_of_unused
from ldprl.cli.options import Json, LogFormat
from ldprl.cli.show import show_json


def serve(
    deployment: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="The deployment's TOML; without one, a demo."),
    ] = None,
    database: Annotated[
        str | None,
        typer.Option(
            metavar="URL",
            envvar="LDPRL_DATABASE",
            help="sqlite:///PATH or postgresql://…; default: NAME.sqlite here.",
        ),
    ] = None,
    host: Annotated[str, typer.Option(metavar="HOST", help="Address to listen on.")] = "127.0.0.1",
    port: Annotated[str, typer.Option(metavar="PORT", help="Port; 0 takes a free one.")] = "8000",
    workers: Annotated[
        str, typer.Option(metavar="N", help="Processes; more than 1 need PostgreSQL.")
    ] = "1",
    rate_limit: Annotated[
        str,
        typer.Option(
            metavar="N",
            help="Requests a second from one address; 0 turns all limits by address off.",
        ),
    ] = "1000",
    proxy: Annotated[
        str,
        typer.Option(
            metavar="LIST",
            help="Addresses or networks of proxies, with commas; X-Forwarded-For is believed from "
            "them alone.",
        ),
    ] = "",
    body_seconds: Annotated[
        str, typer.Option(metavar="T", help="How long a request's body may take to arrive.")
    ] = "10",
    forget_before: Annotated[
        str,
        typer.Option(
            metavar="USER",
            help="Plan from users after this one only, such as after a change of the world.",
        ),
    ] = "0",
    admin_token_hash: Annotated[
        str | None,
        typer.Option(
            metavar="HASH",
            envvar="LDPRL_ADMIN_TOKEN_HASH",
            help="SHA-256 of the admin token, from **ldprl admin-token**; no hash, no admin calls.",
        ),
    ] = None,
    private_key: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="With a relay: the key from **ldprl keypair**."),
    ] = None,
    relay_token_hash: Annotated[
        str | None,
        typer.Option(
            metavar="HASH",
            envvar="LDPRL_RELAY_TOKEN_HASH",
            help="With a relay: SHA-256 of its token, from **ldprl admin-token**.",
        ),
    ] = None,
    access_log: Annotated[
        bool,
        typer.Option("--access-log", help="Log requests, without addresses; off by default."),
    ] = False,
    log: LogFormat = "text",
) -> None:
    """Collect reports, learn from them, hand out policies: the service itself.

    The dashboard is at **/**, a page to try it out at **/demo**, the calls at **/openapi.json**.
    """
    import re

    from ldprl.cli.relay import read_key
    from ldprl.errors import InputError, positive
    from ldprl.service.limits import Limits
    from ldprl.service.run import serve as run
    from ldprl.service.settings import ServiceSettings, read_deployment, read_proxies

    chosen = read_deployment(deployment)
    certified = chosen.certificate is not None
    warn_of_unused(chosen.learner, chosen.structure, certified=certified)
    hashes = {"admin_token_hash": admin_token_hash, "relay_token_hash": relay_token_hash}
    for name, value in hashes.items():
        if value is not None and not re.fullmatch("[0-9a-f]{64}", value):
            raise InputError(name, value, "64 hexadecimal digits, from ldprl admin-token")
    file = re.sub(r"[^\w.-]+", "-", chosen.name) + ".sqlite"
    settings = ServiceSettings(
        chosen,
        database or f"sqlite:///{file}",
        admin_token_hash,
        Limits(
            rate=(rate := count("rate_limit", rate_limit, 0)),
            per_address=Limits.per_address if rate else 0,
            body_seconds=positive("body_seconds", decimal("body_seconds", body_seconds)),
        ),
        proxies=read_proxies(proxy),
        forget_before=count("forget_before", forget_before, 0),
        private_key=None if private_key is None else read_key(private_key),
        relay_token_hash=relay_token_hash,
    )
    run(
        settings,
        host,
        count("port", port, 0, 65535),
        workers=count("workers", workers, 1, 256),
        access_log=access_log,
        log_format=log,
    )


def admin_token(as_json: Json = False) -> None:
    """Make a token for admin calls, and the hash of it that a server is started with.

    The token is shown once and kept nowhere.
    """
    import secrets

    from ldprl.service.admin import token_hash

    token = secrets.token_urlsafe(32)
    made = {"token": token, "hash": token_hash(token)}
    if as_json:
        show_json(made)
    else:
        print(f"token: {made['token']}\nhash:  {made['hash']}")
