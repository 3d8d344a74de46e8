"""The application: reports on a short path, the rest through Starlette's routes."""

from __future__ import annotations

import contextlib
import logging
import traceback
from collections.abc import AsyncIterator

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from ldprl.service import pages
from ldprl.service.admin import Admin
from ldprl.service.causes import REFUSALS, DelayedError, RejectionError
from ldprl.service.crowds import HAND_OVER_SECONDS
from ldprl.service.limits import address_of
from ldprl.service.responses import ALLOWED, Receipt, delayed, json_response, problem
from ldprl.service.routes import Routes
from ldprl.service.service import Service

_NAMES = {404: "not-found", 405: "method-not-allowed"}
_UNLIMITED = ("/healthz", "/metrics")
"""Monitoring gets a response at any load."""
_log = logging.getLogger("ldprl.service")


class App:
    """An ASGI application around one service, which it starts and stops."""

    def __init__(self, service: Service) -> None:
        self.service = service
        self._inner = Starlette(
            routes=[*Routes(service).routes(), *Admin(service).routes(), *pages.routes()],
            exception_handlers={
                HTTPException: _http_problem,
                DelayedError: self._problem,
                RejectionError: self._problem,
                Exception: self._problem,
            },
            lifespan=self._lifespan,
        )

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one connection's request."""
        if scope["type"] != "http":
            await self._inner(scope, receive, send)
            return
        response: ASGIApp | None
        try:
            response = await self._respond(scope, receive, send)
        except ClientDisconnect:
            return
        except Exception as error:
            response = await self._problem(None, error)
        if response is not None:
            await response(scope, receive, send)

    async def _respond(self, scope: Scope, receive: Receive, send: Send) -> ASGIApp | None:
        """Return the response, or None if it was sent already."""
        path = scope["path"]
        if path in ("/v1/crowds", "/v1/crowds/next"):
            return await self._relayed(scope, receive)
        if path in _UNLIMITED:
            await self._routed(scope, receive, send)
            return None
        with self.service.gate.enter(scope):
            if path != "/v1/reports":
                with self.service.gate.work():
                    await self._routed(scope, receive, send)
                return None
            if scope["method"] == "POST":
                return await self._reports(scope, receive)
            if scope["method"] == "OPTIONS":
                return json_response(b"", 204, ALLOWED)
            return problem(405, "method-not-allowed", "POST reports here", {"allow": "POST"})

    async def _routed(self, scope: Scope, receive: Receive, send: Send) -> None:
        # Starlette raises an error again after it has responded, for a server to log.
        with contextlib.suppress(Exception):
            await self._inner(scope, receive, send)

    async def _problem(self, _: Request | None, error: Exception) -> Response:
        """Return the response to a request that failed."""
        if isinstance(error, RejectionError):
            status, content = self.service.intake.refuse(error)
            response = json_response(content, status)
        elif isinstance(error, DelayedError):
            self.service.metrics.delayed[error.cause] += 1
            response = delayed(error)
        else:
            # A message may quote what a user sent; where it happened does not.
            where = "".join(traceback.format_tb(error.__traceback__))
            _log.error("%s at\n%s", type(error).__name__, where)
            response = problem(500, "internal", "the server failed; the request is not at fault")
        # What is left of the body is not worth waiting for.
        response.headers["connection"] = "close"
        return response

    async def _reports(self, scope: Scope, receive: Receive) -> Receipt:
        body = await self.service.gate.read(scope, receive)
        try:
            with self.service.gate.work():
                status, content = await self.service.intake.take(body, address_of(scope))
        finally:
            self.service.gate.release(len(body))
        return Receipt(status, content)

    async def _relayed(self, scope: Scope, receive: Receive) -> Response:
        """Serve the relay: what it hands over, or asks about that."""
        skips = scope["path"] == "/v1/crowds/next"
        allowed = ("POST",) if skips else ("GET", "POST")
        if scope["method"] not in allowed:
            detail = "for a relay and its batches"
            return problem(405, "method-not-allowed", detail, {"allow": ", ".join(allowed)})
        crowds = self.service.crowds
        if crowds is None:
            return problem(404, "not-found", "this deployment has no relay")
        headers = dict(scope["headers"])
        if not crowds.knows(headers.get(b"authorization", b"").decode("latin-1")):
            return problem(401, "unauthorized", "expected the relay's token")
        if scope["method"] == "GET":
            return json_response(await crowds.taken())
        # A crowd takes longer than a report; only the relay gets the time.
        scope["ldprl.allow"](HAND_OVER_SECONDS)
        body = await crowds.gate.read(scope, receive)
        try:
            with crowds.gate.work():
                return json_response(await (crowds.skip if skips else crowds.take)(body))
        except RejectionError as refused:
            # Not counted with the reports that were refused: the relay keeps them, and may repeat.
            return problem(REFUSALS[refused.cause], refused.cause, refused.detail)
        finally:
            crowds.gate.release(len(body))

    @contextlib.asynccontextmanager
    async def _lifespan(self, _: Starlette) -> AsyncIterator[None]:
        self.service.start()
        yield
        self.service.stop()


async def _http_problem(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    cause = _NAMES.get(error.status_code, "malformed")
    headers = dict(error.headers or {})
    return problem(error.status_code, cause, error.detail, headers)
