"""How long requests take and how they end, without who sent them or what."""

from __future__ import annotations

import logging
import time
from collections.abc import Awaitable

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from ldprl.service.metrics import Metrics

ROUTES = (
    "/v1/reports",
    "/v1/policy",
    "/v1/deployment",
    "/v1/status",
    "/v1/dashboard",
    "/v1/admin",
    "/healthz",
    "/metrics",
)
"""The routes that are measured separately; everything else is ``other``."""
_KNOWN = frozenset(ROUTES)
_HUNG_UP = 499
_log = logging.getLogger("ldprl.access")


class Watch:
    """Wraps an application; counts, times and, if asked to, logs its requests.

    Only the route, the method and the status are kept. A path's numbers, the query, which holds the
    report's id, and the address are not.
    """

    def __init__(self, app: ASGIApp, metrics: Metrics, access_log: bool) -> None:
        self._app = app
        self._metrics = metrics
        self._access_log = access_log

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        status = _HUNG_UP

        # Not a coroutine, which would cost one more step of the loop for every message.
        def noting(message: Message) -> Awaitable[None]:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            return send(message)

        started = time.perf_counter()
        try:
            await self._app(scope, receive, noting)
        finally:
            seconds = time.perf_counter() - started
            route = route_of(scope["path"])
            self._metrics.observe_request(route, status, seconds)
            if self._access_log:
                fields = {"route": route, "status": status, "seconds": round(seconds, 4)}
                _log.info("request", extra={"fields": fields})


def route_of(path: str) -> str:
    """Return which of :data:`ROUTES` a path belongs to."""
    if path in _KNOWN:
        return path
    head = "/".join(path.split("/", 3)[:3])
    return head if head in _KNOWN else "other"
