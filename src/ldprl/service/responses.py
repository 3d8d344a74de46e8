"""Responses in JSON, with the headers that every response carries."""

from __future__ import annotations

import gzip
import re
from typing import Any

import msgspec
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from ldprl.service.causes import DelayedError

JSON = "application/json"
PLAN_CACHE = "public, max-age=10, stale-while-revalidate=60"
"""How long the plan in force may be kept: whoever has it for seconds after it was replaced reports
under it as those do who fetched it seconds before."""
VARIES = {"vary": "accept-encoding"}
PACKED = VARIES | {"content-encoding": "gzip"}
_LEVEL = 6
_GZIP = re.compile(r"(?<![\w-])gzip(?!\s*;\s*q=0(\.0*)?\s*(,|$))", re.IGNORECASE)
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


def tagged(
    request: Request,
    document: bytes,
    tag: str,
    kind: str,
    policy: str,
    *,
    cache: str = "no-cache",
    headers: dict[str, str] | None = None,
) -> Response:
    """Return a document with an ETag, or 304 where the client holds the same."""
    given = HEADERS | {
        "content-security-policy": policy,
        "cache-control": cache,
        "etag": f'"{tag}"',
    }
    given |= headers or {}
    if given["etag"] in request.headers.get("if-none-match", ""):
        return Response(status_code=304, headers=given)
    return Response(document, 200, given, kind)


def takes_gzip(request: Request) -> bool:
    """Say whether a client accepts what is compressed."""
    return _GZIP.search(request.headers.get("accept-encoding", "")) is not None


def compressed(document: bytes) -> bytes:
    """Return a document as ``Content-Encoding: gzip``; the same bytes on every server."""
    return gzip.compress(document, _LEVEL, mtime=0)


def problem(
    status: int, cause: str, detail: str, headers: dict[str, str] | None = None
) -> Response:
    """Return why a request failed."""
    return json_response({"cause": cause, "detail": detail}, status, headers)


def delayed(error: DelayedError) -> Response:
    """Return the response that asks a client to repeat its request later."""
    return problem(error.status, error.cause, error.detail, {"retry-after": str(error.retry_after)})
