"""``ldprl relay``: mix reports between clients and a service."""

from __future__ import annotations

from typing import Annotated

from ldprl.cli import options
from ldprl.errors import InputError, real


def _seconds(name: str, value: float) -> float:
    return real(name, value, "a finite number of seconds")


def relay(
    service: Annotated[str, options.text("URL", "Where the service is.")],
    database: Annotated[str, options.text("FILE", "The relay's SQLite file.")] = "relay.sqlite",
    host: options.Host = "127.0.0.1",
    port: options.Port = 8001,
    linger: Annotated[
        float | None,
        options.real(
            "T",
            "Seconds to wait for users in mid-episode once the crowd is there. \\[default: an"
            " episode, where the deployment says how long a step takes; else 30]",
            _seconds,
        ),
    ] = None,
    rate_limit: Annotated[
        int, options.whole("N", "Requests a second from one address; 0 for no limit.", at_least=0)
    ] = 1000,
    digest: Annotated[
        str | None, options.text("HEX", "The deployment to relay for; without it, any.")
    ] = None,
    token: Annotated[
        str,
        options.text(
            "TOKEN",
            "The token by which the service knows this relay; better in the environment.",
            envvar="LDPRL_RELAY_TOKEN",
        ),
    ] = "",
    metrics_token_hash: Annotated[
        str | None,
        options.text(
            "HASH",
            "SHA-256 of the token for /metrics, from **ldprl keys token**; no hash, no metrics.",
            envvar="LDPRL_METRICS_TOKEN_HASH",
        ),
    ] = None,
    log: options.LogFormat = "text",
) -> None:
    """Hold sealed reports, and hand them over once they are a crowd.

    Somebody other than the service's operator runs it. The page on the relay says who may know
    what.
    """
    from ldprl.relay.run import relay as run
    from ldprl.service.tokens import check_hash

    if not token:
        raise InputError("token", token, "the relay's token, in LDPRL_RELAY_TOKEN")
    if "://" in database:
        raise InputError("database", database, "a file's name, such as relay.sqlite")
    check_hash("metrics_token_hash", metrics_token_hash)
    run(
        service,
        token,
        database,
        host,
        port,
        linger=linger,
        rate=rate_limit,
        digest=digest,
        metrics_token_hash=metrics_token_hash,
        log_format=log,
    )
