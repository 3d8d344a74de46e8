"""The public calls other than reports."""

from __future__ import annotations

import asyncio
import threading
from collections import OrderedDict
from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from ldprl.protocol.messages import REPORT_ID
from ldprl.service.gauges import gauges
from ldprl.service.history import History
from ldprl.service.openapi import document
from ldprl.service.plans import Edition, edition
from ldprl.service.responses import HEADERS, json_response, problem
from ldprl.service.service import Service
from ldprl.service.shared import Shared
from ldprl.service.view_data import certificate, dashboard, status

_FOR_EVER = "public, max-age=31536000, immutable"
_LARGEST = 2**53
"""Larger numbers in a path stand for no version."""
_DASHBOARD_SECONDS = 2.0
"""How old the dashboard's numbers may be; the page asks as often."""
_LEARNING_SECONDS = 60.0
"""How old the learning figures in /metrics may be: they cost as much as the dashboard."""
_KEPT_EDITIONS = 8
"""How many expired versions stay in memory: each costs its plan in JSON, several times over."""


class Routes:
    """Handlers that read from the service."""

    def __init__(self, service: Service) -> None:
        self._service = service
        self._digest = service.deployment.digest
        self._status = Shared(lambda: status(service), seconds=0.0)
        self._replaced: OrderedDict[int, Edition] = OrderedDict()
        self._building = threading.Lock()
        self._certificate = Shared(lambda: certificate(service), seconds=_DASHBOARD_SECONDS)
        history = History(service)
        self._dashboard = Shared(lambda: dashboard(service, history), seconds=_DASHBOARD_SECONDS)

    def routes(self) -> list[Route]:
        """Return the route of each handler."""
        return [
            Route("/v1/deployment", self.deployment),
            Route("/v1/policy", self.policy),
            Route("/v1/policy/{version}/{assignment}", self.assignment),
            Route("/v1/status", self.status),
            Route("/v1/certificate", self.certificate),
            Route("/v1/dashboard", self.dashboard),
            Route("/healthz", self.health),
            Route("/metrics", self.metrics),
            Route("/openapi.json", self.openapi),
        ]

    async def deployment(self, request: Request) -> Response:
        """Return the frozen parameters and their digest."""
        content = {"digest": self._digest, "deployment": self._service.deployment.document}
        return _tagged(request, content, self._digest)

    async def policy(self, request: Request) -> Response:
        """Return the assignment of a report id, or the whole plan."""
        current = self._service.view.current
        report_id = request.query_params.get("id")
        if report_id is None:
            return _tagged(request, current.whole, f"{self._digest}-{current.version}")
        if not REPORT_ID.fullmatch(report_id):
            return problem(400, "malformed", "id: expected 32 hexadecimal digits in lower case")
        if self._service.crowds is not None:
            return problem(422, "relay-only", "an id here and in a report would show who sent it")
        return json_response(
            current.response(*current.drawn(report_id, self._service.database.secret))
        )

    async def assignment(self, request: Request) -> Response:
        """Return one assignment of one version, which never changes."""
        version = _number(request.path_params["version"])
        index = _number(request.path_params["assignment"])
        view = self._service.view
        found = view.open.get(version)
        if found is None and 0 < version < view.first_open:
            found = await asyncio.to_thread(self._expired, version)
        if found is None or not 0 <= index < len(found.ready):
            return problem(404, "not-found", "no such assignment")
        return json_response(found.public(index), cache=_FOR_EVER)

    def _expired(self, version: int) -> Edition:
        """Return a version that is no longer open; built in a thread, one at a time."""
        with self._building:
            if version not in self._replaced:
                stored = self._service.database.plans(version - 1, 1)[0]
                self._replaced[version] = edition(stored, self._service.deployment)
                if len(self._replaced) > _KEPT_EDITIONS:
                    self._replaced.popitem(last=False)
            return self._replaced[version]

    async def status(self, request: Request) -> Response:
        """Return the service's progress."""
        return json_response(await self._status.get())

    async def dashboard(self, request: Request) -> Response:
        """Return the numbers of the dashboard, a moment old at most."""
        return json_response(await self._dashboard.get())

    async def certificate(self, request: Request) -> Response:
        """Return what users' answers certify, a moment old at most."""
        known = await self._certificate.get()
        if known is None:
            return problem(404, "not-found", "this deployment has no [certificate]")
        return json_response(known)

    async def health(self, request: Request) -> Response:
        """Say whether this server can do its work."""
        if self._service.board.healthy:
            return json_response({"status": "ok"})
        return problem(503, "database-down", "the database does not respond", {"retry-after": "2"})

    async def metrics(self, request: Request) -> Response:
        """Return counters as Prometheus reads them."""
        known = self._dashboard.latest(_LEARNING_SECONDS)
        text = self._service.metrics.text(gauges(self._service, known))
        return Response(text, 200, HEADERS, "text/plain; version=0.0.4")

    async def openapi(self, request: Request) -> Response:
        """Return this document: what there is to call."""
        return json_response(document(), cache="public, max-age=3600")


def _tagged(request: Request, content: Any, tag: str) -> Response:
    """Respond with an ETag, and with 304 where the client holds the same."""
    headers = {"etag": f'"{tag}"'}
    if headers["etag"] in request.headers.get("if-none-match", ""):
        return Response(status_code=304, headers=HEADERS | headers)
    return json_response(content, headers=headers, cache="public, no-cache")


def _number(text: str) -> int:
    """Return a path's whole number, or −1, which nothing has."""
    number = int(text) if text.isascii() and text.isdecimal() and len(text) < 17 else -1
    return number if number < _LARGEST else -1
