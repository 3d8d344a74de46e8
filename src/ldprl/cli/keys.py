"""``ldprl keys``: make the key and the tokens that a service and its relay are started with."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from ldprl.cli import options
from ldprl.cli.group import subgroup
from ldprl.cli.show import show_result
from ldprl.errors import InputError

keys = subgroup("Make the keys and tokens of a service and its relay.")


@keys.command(epilog="Example: **ldprl keys pair --out service.key**")
def pair(
    out: Annotated[Path, options.text("FILE", "Where the private key goes.")],
    as_json: options.Json = False,
) -> None:
    """Make the key that reports are sealed to; print its public half, for [shuffle] key = "…".

    The private half is written to a new file that only its owner may read.
    """
    import os

    from ldprl.protocol.sealing import new_private_key, opener

    private = new_private_key()
    try:
        handle = os.open(out, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except OSError as error:
        raise InputError("out", str(out), f"a new file ({error.strerror})") from None
    with os.fdopen(handle, "w") as file:
        file.write(private + "\n")
    public = opener(private).key
    show_result(as_json, {"key": public, "private": str(out)}, public)


@keys.command(epilog="Example: **ldprl keys token --json**")
def token(as_json: options.Json = False) -> None:
    """Make a token for admin calls, /metrics or a relay, and its hash for the server.

    The token is shown once and kept nowhere.
    """
    import secrets

    from ldprl.service.tokens import token_hash

    secret = secrets.token_urlsafe(32)
    made = {"token": secret, "hash": token_hash(secret)}
    show_result(as_json, made, f"token: {secret}\nhash:  {made['hash']}")


def read_key(path: Path) -> str:
    """Read a private key's file."""
    try:
        return path.read_text(encoding="ascii").strip()
    except (OSError, UnicodeDecodeError):
        raise InputError("private_key", str(path), "a file from ldprl keys pair") from None
