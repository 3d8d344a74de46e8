"""The service as its relay sees it: two things to fetch, and batches to hand over."""

from __future__ import annotations

import http.client
import json
from collections.abc import Sequence
from typing import Any

from ldprl.client.connection import connection_to, normalized_url

_FETCH_SECONDS = 30.0
"""Time for fetching the deployment or the plan."""
_HAND_OVER_SECONDS = 600.0
"""Time for handing over a batch, which the service opens, checks and commits as a whole."""
_LONGEST_PLAN = 2**28
"""Bytes that are read of a response."""


class UpstreamError(Exception):
    """The service did not do what was asked of it; trying again later is safe."""


class Upstream:
    """Talks to the service at ``url``, a new connection for each call."""

    def __init__(self, url: str, token: str) -> None:
        self._url = normalized_url(url, "service")
        self._token = token

    def deployment(self) -> object:
        """Return the deployment's document."""
        return self._get("/v1/deployment").get("deployment")

    def plan(self) -> dict[str, Any]:
        """Return the plan in force."""
        return self._get("/v1/policy")

    def hand_over(self, version: int, sealed: Sequence[bytes]) -> dict[str, Any]:
        """Send a batch; return how many of its reports were counted, known or refused."""
        head = {"version": version, "count": len(sealed), "size": len(sealed[0])}
        body = json.dumps(head).encode() + b"\n" + b"".join(sealed)
        headers = {"Authorization": f"Bearer {self._token}"}
        return self._call("POST", "/v1/crowds", _HAND_OVER_SECONDS, body, headers)

    def _get(self, path: str) -> dict[str, Any]:
        return self._call("GET", path, _FETCH_SECONDS, None, {})

    def _call(
        self, method: str, path: str, seconds: float, body: bytes | None, headers: dict[str, str]
    ) -> dict[str, Any]:
        connection, prefix = connection_to(self._url, seconds)
        try:
            connection.request(method, prefix + path, body, headers)
            response = connection.getresponse()
            content = response.read(_LONGEST_PLAN)
            document = json.loads(content)
        except (OSError, http.client.HTTPException, ValueError, RecursionError) as error:
            raise UpstreamError(f"{method} {path}: {type(error).__name__}") from None
        finally:
            connection.close()
        if response.status != 200 or not isinstance(document, dict):
            cause = document.get("cause") if isinstance(document, dict) else None
            raise UpstreamError(f"{method} {path}: status {response.status} ({cause})")
        return document
