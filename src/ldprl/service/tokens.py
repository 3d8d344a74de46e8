"""Bearer tokens, of which a server knows only the hash."""

from __future__ import annotations

import hashlib
import hmac
import re

from ldprl.errors import InputError


def token_hash(token: str) -> str:
    """Return what a server keeps of a token."""
    return hashlib.sha256(token.encode(errors="replace")).hexdigest()


def is_bearer(authorization: str, wanted: str) -> bool:
    """Say whether an ``Authorization`` header holds the token with the hash ``wanted``."""
    scheme, _, token = authorization.partition(" ")
    # Compared in constant time, so that the time of a response says nothing about the token.
    return hmac.compare_digest(token_hash(token), wanted) and scheme.lower() == "bearer"


def check_hash(field: str, value: str | None) -> None:
    """Refuse what is no hash of a token; None stands for no token."""
    if value is not None and not re.fullmatch("[0-9a-f]{64}", value):
        raise InputError(field, value, "64 hexadecimal digits, from ldprl keys token")
