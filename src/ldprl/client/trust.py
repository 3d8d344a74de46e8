"""Trust on first use: which deployment a service had when it was first asked."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path

from ldprl.client.connection import normalized_url
from ldprl.client.turns import take_turn
from ldprl.disk import replacing
from ldprl.errors import InputError


def trusted_digest(path: Path, url: str, fetch: Callable[[], str]) -> str:
    """Return the digest kept at ``path`` for ``url``, fetched and kept now if there is none.

    Processes take turns, and look again when it is their turn: two first calls at once trust the
    same deployment. One service is one entry, however its address is written.
    """
    service = normalized_url(url)
    beside = path.with_name(path.name + ".lock")
    handle = os.open(beside, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
    with os.fdopen(handle, "r+b") as lock:
        take_turn(lock, beside)
        known = _read(path)
        if service not in known:
            known[service] = fetch()
            with replacing(path) as file:
                file.write(json.dumps(known, indent=1).encode())
        return known[service]


def _read(path: Path) -> dict[str, str]:
    try:
        entries = json.loads(path.read_text(encoding="utf-8"))
        known: dict[str, str] = {}
        for url, digest in entries.items():
            if known.setdefault(normalized_url(url), str(digest)) != digest:
                expected = f"one deployment for {normalized_url(url)}"
                raise InputError("ledger", str(path), expected)
        return known
    except FileNotFoundError:
        return {}
    except (ValueError, AttributeError) as error:
        if isinstance(error, InputError):
            raise
        # To start anew would trust whoever responds now.
        raise InputError("ledger", str(path), "trusted deployments, in JSON") from None
