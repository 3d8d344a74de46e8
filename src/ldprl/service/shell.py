"""What a service and a relay share towards HTTP: reports on a short path, the rest by routes."""

from __future__ import annotations

import contextlib
import logging
import traceback
from collections.abc import AsyncIterator, Callable, Sequence

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from ldprl.service.causes import DelayedError, RejectionError
from ldprl.service.limits import Gate, address_of
from ldprl.service.metrics import Metrics
from ldprl.service.responses import ALLOWED, delayed, json_response, problem

_NAMES = {404: "not-found", 405: "method-not-allowed"}
_UNLIMITED = ("/healthz", "/metrics")
"""Monitoring gets a response at any load."""
_log = logging.getLogger("ldprl.service")


class Shell:
    """An ASGI application that bounds requests and says in one form why one failed.

    Parameters
    ----------
    routes
        Everything but ``POST /v1/reports``, which :meth:`take` responds to.
    gate
        What requests may ask at once.
    metrics
        Where delayed requests are counted.
    start, stop
        Called before the first request, and after the last one.
    """

    def __init__(
        self,
        routes: Sequence[Route],
        gate: Gate,
        metrics: Metrics,
        start: Callable[[], None],
        stop: Callable[[], None],
    ) -> None:
        self._gate = gate
        self._metrics = metrics
        self._start, self._stop = start, stop
        self._inner = Starlette(
            routes=routes,
            exception_handlers={
                HTTPException: _http_problem,
                DelayedError: self._problem,
                RejectionError: self._problem,
                Exception: self._problem,
            },
            lifespan=self._lifespan,
        )

    async def take(self, body: bytes | bytearray, address: str) -> ASGIApp:
        """Return the response to reports, or raise why they are refused."""
        raise NotImplementedError

    def refused(self, error: RejectionError) -> Response:
        """Count a refusal, and return the response that says why."""
        raise NotImplementedError

    async def respond(self, scope: Scope, receive: Receive, send: Send) -> ASGIApp | None:
        """Return the response, or None if it was sent already."""
        path = scope["path"]
        if path in _UNLIMITED:
            await self._routed(scope, receive, send)
            return None
        with self._gate.enter(scope):
            if path != "/v1/reports":
                with self._gate.work():
                    await self._routed(scope, receive, send)
                return None
            if scope["method"] == "POST":
                return await self._reports(scope, receive)
            if scope["method"] == "OPTIONS":
                return json_response(b"", 204, ALLOWED)
            return problem(405, "method-not-allowed", "POST reports here", {"allow": "POST"})

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one connection's request."""
        if scope["type"] != "http":
            await self._inner(scope, receive, send)
            return
        response: ASGIApp | None
        try:
            response = await self.respond(scope, receive, send)
        except ClientDisconnect:
            return
        except Exception as error:
            response = await self._problem(None, error)
        if response is not None:
            await response(scope, receive, send)

    async def _reports(self, scope: Scope, receive: Receive) -> ASGIApp:
        body = await self._gate.read(scope, receive)
        try:
            with self._gate.work():
                return await self.take(body, address_of(scope))
        except RejectionError as error:
            return self.refused(error)
        finally:
            self._gate.release(len(body))

    async def _routed(self, scope: Scope, receive: Receive, send: Send) -> None:
        # Starlette raises an error again after it has responded, for a server to log.
        with contextlib.suppress(Exception):
            await self._inner(scope, receive, send)

    async def _problem(self, _: Request | None, error: Exception) -> Response:
        """Return the response to a request that failed."""
        if isinstance(error, RejectionError):
            response = self.refused(error)
        elif isinstance(error, DelayedError):
            self._metrics.delayed[error.cause] += 1
            response = delayed(error)
        else:
            # A message may quote what a user sent; where it happened does not.
            where = "".join(traceback.format_tb(error.__traceback__))
            _log.error("%s at\n%s", type(error).__name__, where)
            response = problem(500, "internal", "the server failed; the request is not at fault")
        # What is left of the body is not worth waiting for.
        response.headers["connection"] = "close"
        return response

    @contextlib.asynccontextmanager
    async def _lifespan(self, _: Starlette) -> AsyncIterator[None]:
        self._start()
        yield
        self._stop()


async def _http_problem(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    cause = _NAMES.get(error.status_code, "malformed")
    headers = dict(error.headers or {})
    return problem(error.status_code, cause, error.detail, headers)
