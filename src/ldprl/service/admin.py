"""Calls for the operator, behind a bearer token of which only the hash is known here."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable

import msgspec
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from ldprl.service.causes import DelayedError
from ldprl.service.responses import json_response, problem
from ldprl.service.service import Service
from ldprl.service.tokens import is_bearer
from ldprl.service.view_data import export

_PLAN_SECONDS = 60.0
"""How long a call to publish waits for the new version."""


class Pause(msgspec.Struct, forbid_unknown_fields=True):
    """Whether the service is to refuse reports for now."""

    paused: bool


class Admin:
    """Pause, export, publish."""

    def __init__(self, service: Service) -> None:
        self._service = service
        self._hash = service.settings.admin_token_hash

    def routes(self) -> list[Route]:
        """Return the route of each handler."""
        return [
            Route("/v1/admin/pause", self._guarded(self.pause), methods=["POST"]),
            Route("/v1/admin/export", self._guarded(self.export)),
            Route("/v1/admin/publish", self._guarded(self.publish), methods=["POST"]),
        ]

    async def pause(self, request: Request) -> Response:
        """Pause the service, or resume it."""
        gate = self._service.gate
        body = await gate.read(request.scope, request.receive)
        gate.release(len(body))
        try:
            wanted = msgspec.json.decode(body, type=Pause)
        except (msgspec.DecodeError, RecursionError, ValueError) as error:
            return problem(400, "malformed", str(error)[:200])
        await asyncio.to_thread(self._service.database.set_paused, wanted.paused)
        await asyncio.to_thread(self._service.board.refresh)
        return json_response({"paused": wanted.paused})

    async def export(self, request: Request) -> Response:
        """Return everything in the database except the ids and the secret."""
        return json_response(await asyncio.to_thread(self._exported))

    def _exported(self) -> bytes:
        return msgspec.json.encode(export(self._service))

    async def publish(self, request: Request) -> Response:
        """Have the next version made now, by whichever server plans."""
        board = self._service.board
        version = (await asyncio.to_thread(board.refresh)).version
        await asyncio.to_thread(self._service.database.want_plan, version)
        deadline = time.monotonic() + _PLAN_SECONDS
        while time.monotonic() < deadline:
            current = self._service.view.current
            if current.version > version:
                return json_response({"version": current.version, "users": current.users})
            await asyncio.sleep(0.05)
        raise DelayedError("overloaded", "the plan is not finished yet; see GET /v1/status")

    def _guarded(
        self, handler: Callable[[Request], Awaitable[Response]]
    ) -> Callable[[Request], Awaitable[Response]]:
        async def guarded(request: Request) -> Response:
            if self._hash is None:
                return problem(403, "forbidden", "this server was started without an admin token")
            if not is_bearer(request.headers.get("authorization", ""), self._hash):
                return problem(
                    401, "unauthorized", "give the admin token", {"www-authenticate": "Bearer"}
                )
            return await handler(request)

        return guarded
