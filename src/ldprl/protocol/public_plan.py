"""The bytes of a whole plan, by which users, relay and service know that they mean the same one."""

from __future__ import annotations

import hashlib
import json


def plan_bytes(document: object) -> bytes:
    """Return the one way of writing a plan: what a service and a relay send, byte for byte."""
    return json.dumps(document, sort_keys=True, separators=(",", ":")).encode()


def plan_digest(body: bytes) -> str:
    """Return what a plan is known by: SHA-256, in hex, of what :func:`plan_bytes` wrote."""
    return hashlib.sha256(body).hexdigest()
