"""Sealed reports as clients make them, and batches as a relay sends them."""

from __future__ import annotations

import base64
import json
import secrets
from collections.abc import Sequence
from typing import Any

from ldprl.mechanisms.sampling import SystemSource
from ldprl.protocol.deployment import Deployment
from ldprl.protocol.messages import report_bytes_of
from ldprl.protocol.plan import draw
from ldprl.protocol.public_plan import plan_bytes, plan_digest
from ldprl.protocol.sealing import seal
from tests.relay.running import TOKEN
from tests.service.server import Answer, Client, codec_of, some_values


def make(
    plan: dict[str, Any], found: Deployment, report_id: str | None = None, **changes: Any
) -> bytes:
    """Return a sealed report; ``changes`` are to what is sealed, or to what it is sealed for."""
    assert found.shuffle is not None
    issued, size = draw(plan, found, SystemSource())
    values = some_values(codec_of(found, issued.assignment))
    report_id = report_id or secrets.token_hex(16)
    content = json.loads(report_bytes_of(report_id, issued, values))
    key = changes.pop("key", found.shuffle.key)
    digest, version = (
        changes.pop("digest", found.digest),
        changes.pop("sealed_for", plan["version"]),
    )
    under = changes.pop("under", plan_digest(plan_bytes(plan)))
    given = changes.pop("text", None)
    text = given or json.dumps(content | changes, separators=(",", ":")).encode()
    return seal(text, size, key, digest, version, under)


def batch(sealed: Sequence[bytes], under: dict[str, Any], **head: Any) -> bytes:
    """Return the body of a hand-over of reports under a plan."""
    header = {"version": under["version"], "count": len(sealed), "size": len(sealed[0])}
    header |= {"plan": plan_digest(plan_bytes(under)), "number": 1}
    return json.dumps(header | head).encode() + b"\n" + b"".join(sealed)


def hand_over(service: Client, body: bytes, token: str = TOKEN) -> Answer:
    return service.send("POST", "/v1/crowds", body, authorization=f"Bearer {token}")


def leave(relay: Client, found: Deployment, report: bytes, **changes: Any) -> Answer:
    """Leave a sealed report with a relay."""
    text = base64.b64encode(report).decode()
    content = {"deployment": found.digest, "version": 1, "sealed": text} | changes
    return relay.post("/v1/reports", content)
