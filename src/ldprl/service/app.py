"""The service as an application: its routes, and what its relay hands over."""

from __future__ import annotations

from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from ldprl.service import pages
from ldprl.service.admin import Admin
from ldprl.service.causes import REFUSALS, RejectionError
from ldprl.service.crowds import HAND_OVER_SECONDS
from ldprl.service.responses import Receipt, json_response, problem
from ldprl.service.routes import Routes
from ldprl.service.service import Service
from ldprl.service.shell import Shell


class App(Shell):
    """An ASGI application around one service, which it starts and stops."""

    def __init__(self, service: Service) -> None:
        self.service = service
        routes = [
            *Routes(service).routes(),
            *Admin(service).routes(),
            *pages.routes(service.deployment.problem),
        ]
        super().__init__(routes, service.gate, service.metrics, service.start, service.stop)

    async def respond(self, scope: Scope, receive: Receive, send: Send) -> ASGIApp | None:
        """Return the response, or None if it was sent already."""
        if scope["path"] in ("/v1/crowds", "/v1/crowds/next"):
            return await self._relayed(scope, receive)
        return await super().respond(scope, receive, send)

    async def take(self, body: bytes | bytearray, address: str) -> Receipt:
        """Have reports counted or refused, one by one."""
        return Receipt(*await self.service.intake.take(body, address))

    def refused(self, error: RejectionError) -> Response:
        """Count a refusal, and return the response that says why."""
        status, content = self.service.intake.refuse(error)
        return json_response(content, status)

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
