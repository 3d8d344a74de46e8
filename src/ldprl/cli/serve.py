"""``ldprl serve``: the loop over HTTP."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ldprl.cli import options
from ldprl.cli.options import warn_of_unused
from ldprl.errors import InputError, one_of, positive


def serve(
    deployment: Annotated[
        Path | None, options.text("FILE", "The deployment's TOML; without one, a demo.")
    ] = None,
    demo: Annotated[
        str | None, options.text("NAME", "Which demo: savers (tables) or glucose (vectors).")
    ] = None,
    database: Annotated[
        str | None,
        options.text(
            "URL",
            "sqlite:///PATH or postgresql://…; default: NAME.sqlite here.",
            envvar="LDPRL_DATABASE",
        ),
    ] = None,
    host: options.Host = "127.0.0.1",
    port: options.Port = 8000,
    workers: Annotated[
        int, options.whole("N", "Processes; more than 1 need PostgreSQL.", at_most=256)
    ] = 1,
    rate_limit: Annotated[
        int,
        options.whole(
            "N",
            "Requests a second from one address; 0 turns all limits by address off.",
            at_least=0,
        ),
    ] = 1000,
    proxy: Annotated[
        str,
        options.text(
            "LIST",
            "Addresses or networks of proxies, with commas; X-Forwarded-For is believed from "
            "them alone.",
        ),
    ] = "",
    body_seconds: Annotated[
        float, options.real("T", "How long a request's body may take to arrive.", positive)
    ] = 10,
    database_wait: Annotated[
        int,
        options.whole("T", "Seconds to wait at the start for a PostgreSQL to respond.", at_least=0),
    ] = 300,
    forget_before: Annotated[
        int,
        options.whole(
            "USER",
            "Plan from users after this one only, such as after a change of the world.",
            at_least=0,
        ),
    ] = 0,
    admin_token_hash: Annotated[
        str | None,
        options.text(
            "HASH",
            "SHA-256 of the admin token, from **ldprl keys token**; no hash, no admin calls.",
            envvar="LDPRL_ADMIN_TOKEN_HASH",
        ),
    ] = None,
    private_key: Annotated[
        Path | None,
        options.text(
            "FILE",
            "With a relay: the key from **ldprl keys pair**.",
            envvar="LDPRL_PRIVATE_KEY_FILE",
        ),
    ] = None,
    relay_token_hash: Annotated[
        str | None,
        options.text(
            "HASH",
            "With a relay: SHA-256 of its token, from **ldprl keys token**.",
            envvar="LDPRL_RELAY_TOKEN_HASH",
        ),
    ] = None,
    access_log: Annotated[
        bool,
        typer.Option("--access-log", help="Log requests, without addresses; off by default."),
    ] = False,
    log: options.LogFormat = "text",
) -> None:
    """Collect reports, learn from them, hand out policies: the service itself.

    The dashboard is at **/**, a page to try it out at **/demo**, the calls at **/openapi.json**.
    """
    import re

    from ldprl.cli.keys import read_key
    from ldprl.service.limits import Limits
    from ldprl.service.run import serve as run
    from ldprl.service.settings import DEMOS, ServiceSettings, read_deployment, read_proxies
    from ldprl.service.tokens import check_hash

    if demo is not None and deployment is not None:
        raise InputError("demo", demo, "no demo beside a deployment")
    chosen = read_deployment(DEMOS[one_of("demo", demo, DEMOS)] if demo else deployment)
    warn_of_unused(chosen.learner, chosen.structure, certified=chosen.certificate is not None)
    hashes = {"admin_token_hash": admin_token_hash, "relay_token_hash": relay_token_hash}
    for name, value in hashes.items():
        check_hash(name, value)
    file = re.sub(r"[^\w.-]+", "-", chosen.name) + ".sqlite"
    settings = ServiceSettings(
        chosen,
        database or f"sqlite:///{file}",
        admin_token_hash,
        Limits(
            rate=rate_limit,
            per_address=Limits.per_address if rate_limit else 0,
            body_seconds=body_seconds,
        ),
        proxies=read_proxies(proxy),
        database_wait=database_wait,
        forget_before=forget_before,
        private_key=None if private_key is None else read_key(private_key),
        relay_token_hash=relay_token_hash,
    )
    run(settings, host, port, workers=workers, access_log=access_log, log_format=log)
