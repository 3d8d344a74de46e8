"""Responses in JSON, with the headers that every response carries."""

from __future__ import annotations

from typing import Any

import msgspec
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from ldprl.service.causes import DelayedError

JSON = "application/json"
HEADERS = {
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-resource-policy": "cross-origin",
    # Any page may fetch policies and send reports: no response depends on cookies.
    "access-control-allow-origin": "*",
}
API_POLICY = "default-src 'none'; frame-ancestors 'none'"
PAGE_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
ALLOWED = {
    "access-control-allow-methods": "GET, POST",
    "access-control-allow-headers": "content-type",
    "access-control-max-age": "86400",
}

_RECEIPT = [
    (name.encode(), value.encode())
    for name, value in {
        **HEADERS,
        "content-security-policy": API_POLICY,
        "cache-control": "no-store",
        "content-type": JSON,
    }.items()
]


class Receipt:
    """What became of a report, in JSON: a response whose headers are written beforehand.

    Starlette writes them anew for each response, which takes longer than to check a report.
    """

    def __init__(self, status: int, body: bytes) -> None:
        self._status = status
        self._body = body

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send it."""
        headers = [*_RECEIPT, (b"content-length", b"%d" % len(self._body))]
        await send({"type": "http.response.start", "status": self._status, "headers": headers})
        await send({"type": "http.response.body", "body": self._body})


def json_response(
    content: Any, status: int = 200, headers: dict[str, str] | None = None, *, cache: str = ""
) -> Response:
    """Return JSON; ``content`` that is bytes is JSON already."""
    body = content if isinstance(content, bytes) else msgspec.json.encode(content)
    given = HEADERS | {
        "content-security-policy": API_POLICY,
        "cache-control": cache or "no-store",
    }
    return Response(body, status, given | (headers or {}), JSON)


def tagged(request: Request, document: bytes, tag: str, kind: str, policy: str) -> Response:
    """Return a document with an ETag, or 304 where the client holds the same."""
    headers = HEADERS | {
        "content-security-policy": policy,
        "cache-control": "no-cache",
        "etag": f'"{tag}"',
    }
    if headers["etag"] in request.headers.get("if-none-match", ""):
        return Response(status_code=304, headers=headers)
    return Response(document, 200, headers, kind)


def problem(
    status: int, cause: str, detail: str, headers: dict[str, str] | None = None
) -> Response:
    """Return why a request failed."""
    return json_response({"cause": cause, "detail": detail}, status, headers)


def delayed(error: DelayedError) -> Response:
    """Return the response that asks a client to repeat its request later."""
    return problem(error.status, error.cause, error.detail, {"retry-after": str(error.retry_after)})
