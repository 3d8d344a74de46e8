"""``ldprl conform``: drive a client program, in any language, through the protocol."""

from __future__ import annotations

from typing import Annotated

import typer

from ldprl.cli import options
from ldprl.cli.show import show_json, show_line

_WORDS = {True: "pass", False: "FAIL", None: "skip"}


def conform(
    client: Annotated[
        str, options.text("COMMAND", "A program that speaks the contract of the protocol's page.")
    ],
    samples: Annotated[
        int,
        options.whole("N", "Reports of each of two users where chance is tested.", 100, 10**7),
    ] = 20_000,
    as_json: options.Json = False,
) -> None:
    """Check a client program against the protocol, and say of each check whether it passed.

    Local services are started for it, good ones and hostile ones. What is exact is compared byte
    by byte; what is random is accused wrongly with a probability of at most 10⁻⁶ a check, and its
    privacy is attacked as `ldprl audit` does. The exit code is 1 if a check failed.
    """
    from ldprl.conformance.run import conform as checks

    found = []
    for check in checks(client, samples):
        found.append(check)
        if not as_json:
            show_line(f"{_WORDS[check.passed]}  {check.name}: {check.detail}")
    if as_json:
        show_json([check._asdict() for check in found])
    if any(check.passed is False for check in found):
        raise typer.Exit(1)
