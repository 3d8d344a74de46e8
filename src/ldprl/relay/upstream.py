"""The service as its relay sees it: two things to fetch, and batches to hand over."""

from __future__ import annotations

import http.client
import json
from collections.abc import Sequence
from http import HTTPStatus
from typing import Any

from ldprl.client.connection import connection_to, normalized_url
from ldprl.errors import InputError, whole_number

_FETCH_SECONDS = 30.0
"""Time for fetching the deployment or the plan."""
_HAND_OVER_SECONDS = 600.0
"""Time for handing over a batch, which the service opens, checks and commits as a whole."""
_LONGEST_PLAN = 2**28
"""Bytes that are read of a response."""


class UpstreamError(Exception):
    """The service did not do what was asked of it; trying again later is safe.

    ``cause`` is the service's own word for why, or empty.
    """

    def __init__(self, text: str, cause: str = "") -> None:
        self.cause = cause
        super().__init__(text)


class Upstream:
    """Talks to the service at ``url``, a new connection for each call."""

    def __init__(self, url: str, token: str) -> None:
        self._url = normalized_url(url, "service")
        self._bearer = {"Authorization": f"Bearer {token}"}

    def deployment(self) -> object:
        """Return the deployment's document."""
        return self._get("/v1/deployment").get("deployment")

    def plan(self) -> dict[str, Any]:
        """Return the plan in force."""
        return self._get("/v1/policy")

    def hand_over(
        self, version: int, plan: str, number: int, sealed: Sequence[bytes]
    ) -> dict[str, int]:
        """Send a batch; return what the service made of its reports, by outcome.

        ``plan`` is the digest of what was handed out as ``version``.
        """
        head = {"version": version, "count": len(sealed), "size": len(sealed[0])}
        line = json.dumps(head | {"plan": plan, "number": number}).encode()
        body = line + b"\n" + b"".join(sealed)
        said = self._call("POST", "/v1/crowds", _HAND_OVER_SECONDS, body, self._bearer)
        return _outcomes(said, len(sealed))

    def taken(self) -> tuple[int, int]:
        """Return the version in force, and the number of the last hand-over that was taken."""
        said = self._call("GET", "/v1/crowds", _FETCH_SECONDS, None, self._bearer)
        try:
            return whole_number("version", said.get("version"), 0), whole_number(
                "number", said.get("number"), 0
            )
        except InputError as error:
            raise UpstreamError(f"GET /v1/crowds: {error}") from None

    def skip(self, version: int) -> None:
        """Ask for a plan with a version above ``version``."""
        body = json.dumps({"above": version}).encode()
        self._call("POST", "/v1/crowds/next", _FETCH_SECONDS, body, self._bearer)

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
            why = f"{method} {path}: status {response.status} ({cause})"
            if response.status == HTTPStatus.UNAUTHORIZED:
                why += "; the service must have the hash of this relay's token"
            raise UpstreamError(why, cause if isinstance(cause, str) else "")
        return document


def _outcomes(said: dict[str, Any], reports: int) -> dict[str, int]:
    """Read the response to a batch; one that does not speak of every report is none."""
    refused = said.get("refused")
    counts = {name: said.get(name) for name in ("counted", "duplicate")}
    if isinstance(refused, dict):
        counts |= {f"refused-{cause}": times for cause, times in refused.items()}
    found = {name: n for name, n in counts.items() if type(n) is int and n >= 0}
    if len(found) < len(counts) or sum(found.values()) != reports:
        raise UpstreamError("POST /v1/crowds: the response does not add up to the batch")
    return found
