"""The public calls other than reports."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, NamedTuple

import msgspec
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from ldprl.policies.exported import suffixes
from ldprl.policies.policy import MOST_POLICIES
from ldprl.protocol.messages import REPORT_ID
from ldprl.service.causes import DelayedError
from ldprl.service.documents import Documents
from ldprl.service.gauges import gauges
from ldprl.service.history import History
from ldprl.service.limits import address_of
from ldprl.service.openapi import document
from ldprl.service.plans import public_assignment
from ldprl.service.responses import (
    API_POLICY,
    HEADERS,
    JSON,
    PACKED,
    PLAN_CACHE,
    VARIES,
    compressed,
    json_response,
    problem,
    tagged,
    takes_gzip,
)
from ldprl.service.service import Service
from ldprl.service.shared import Shared
from ldprl.service.view_data import certificate, dashboard, learnt_policy, status

_FOR_EVER = "public, max-age=31536000, immutable"
_DASHBOARD_SECONDS = 2.0
"""How old the dashboard's numbers may be; the page asks as often."""
_BUSY = 0.05
"""The share of one processor that such numbers may take, however large the problem."""
_PATIENCE_SECONDS = 5.0
"""How long a request waits for new numbers before it gets those before."""
_LEARNING_SECONDS = 60.0
"""How old the learning figures in /metrics may be: they cost as much as the dashboard."""
_CELLS_AT_ONCE = 500
"""Actions that are drawn for a user on the event loop, in a quarter of a millisecond."""


class _Written(NamedTuple):
    """Something with its JSON, both made in a thread."""

    content: Any
    body: bytes


class Routes:
    """Handlers that read from the service.

    Nothing that grows with the problem is done on the event loop: what is the same for all is kept
    as bytes, and the rest is done in turns.
    """

    def __init__(self, service: Service) -> None:
        self._service = service
        self._digest = service.deployment.digest
        self._deployment = msgspec.json.encode(
            {"digest": self._digest, "deployment": service.deployment.document}
        )
        self._openapi = msgspec.json.encode(document())
        self._turns = service.turns
        self._documents = Documents(service.turns)
        history = History(service)
        self._status = Shared(lambda: _written(status(service)), seconds=0.0)
        self._certificate = Shared(
            lambda: _written(certificate(service)), _DASHBOARD_SECONDS, _BUSY
        )
        self._learnt = {
            suffix: Shared(
                functools.partial(learnt_policy, service, suffix), _DASHBOARD_SECONDS, _BUSY
            )
            for suffix in suffixes(service.deployment.problem)
        }
        self._dashboard = Shared(
            lambda: _written(dashboard(service, history)), _DASHBOARD_SECONDS, _BUSY
        )

    def routes(self) -> list[Route]:
        """Return the route of each handler."""
        return [
            Route("/v1/deployment", self.deployment),
            Route("/v1/policy", self.policy),
            Route("/v1/policy/{version}/{assignment}", self.assignment),
            Route("/v1/learnt.json", self.learnt),
            Route("/v1/learnt.onnx", self.learnt),
            Route("/v1/status", self.status),
            Route("/v1/certificate", self.certificate),
            Route("/v1/dashboard", self.dashboard),
            Route("/healthz", self.health),
            Route("/metrics", self.metrics),
            Route("/openapi.json", self.openapi),
        ]

    async def deployment(self, request: Request) -> Response:
        """Return the frozen parameters and their digest."""
        return tagged(request, self._deployment, self._digest, JSON, API_POLICY)

    async def policy(self, request: Request) -> Response:
        """Return the assignment of a report id and its user's number, or the whole plan."""
        report_id = request.query_params.get("id")
        if report_id is not None:
            return await self._issued(request, report_id)
        current = self._service.view.current
        return await self._kept(request, (current.version,), lambda: current.whole, PLAN_CACHE)

    async def _issued(self, request: Request, report_id: str) -> Response:
        """Return one user's assignment, which nobody else may be given."""
        current = self._service.view.current
        if not REPORT_ID.fullmatch(report_id):
            return problem(400, "malformed", "id: expected 32 hexadecimal digits in lower case")
        if self._service.crowds is not None:
            return problem(422, "relay-only", "an id here and in a report would show who sent it")
        index = current.drawn(report_id, self._service.database.secret)
        number = _number(request.query_params.get("number", ""))
        if current.plan[index].numbered and number < 0:
            expected = f"number: expected a whole number below {MOST_POLICIES}, drawn by the client"
            return problem(400, "malformed", expected)
        if takes_gzip(request) and not current.plan[index].numbered:
            write = functools.partial(current.response, index, None)
            body, headers = await self._body(request, (current.version, index), write)
            return json_response(body, headers=headers)
        if current.draws(index) <= _CELLS_AT_ONCE:
            return json_response(current.response(index, number))
        draw = functools.partial(current.response, index, number)
        return json_response(await self._turns.run(address_of(request.scope), draw))

    async def assignment(self, request: Request) -> Response:
        """Return one assignment of one version, which never changes."""
        version = _number(request.path_params["version"])
        index = _number(request.path_params["assignment"])
        view = self._service.view
        if index < 0 or not (version in view.open or 0 < version < view.first_open):
            return problem(404, "not-found", "no such assignment")
        write = functools.partial(self._public, version, index)
        try:
            return await self._kept(request, (version, index), write, _FOR_EVER)
        except IndexError:
            return problem(404, "not-found", "no such assignment")

    async def _kept(
        self, request: Request, name: tuple[int, ...], write: Callable[[], bytes], cache: str
    ) -> Response:
        """Return a document that is the same for all, for caches to keep."""
        body, headers = await self._body(request, name, write)
        tag = "-".join([self._digest, *map(str, name), *(["gzip"] if headers == PACKED else [])])
        return tagged(request, body, tag, JSON, API_POLICY, cache=cache, headers=headers)

    async def _body(
        self, request: Request, name: tuple[int, ...], write: Callable[[], bytes]
    ) -> tuple[bytes, dict[str, str]]:
        """Return a document, compressed once where the client takes that, with its headers."""
        address, packs = address_of(request.scope), takes_gzip(request)
        make = (lambda: compressed(write())) if packs else write
        body = await self._documents.get((name, packs), address, make)
        return body, PACKED if packs else VARIES

    def _public(self, version: int, index: int) -> bytes:
        """Write an assignment of a version that is open, or was."""
        found = self._service.view.open.get(version)
        if found is not None:
            return found.public(index)
        (stored,) = self._service.database.plans(version - 1, 1)
        return public_assignment(stored, index, self._service.deployment)

    async def learnt(self, request: Request) -> Response:
        """Return the policy that would be handed over now, as a file that runs without ldprl."""
        name = request.url.path.rpartition("/")[2]
        shared = self._learnt.get(name.removeprefix("learnt"))
        if shared is None:
            return problem(404, "not-found", "policies of this deployment are no such file")
        known: bytes = await _numbers(shared)
        kind = JSON if name.endswith(".json") else "application/octet-stream"
        named = {"content-disposition": f'attachment; filename="{name}"'}
        return Response(known, 200, HEADERS | named, kind)

    async def status(self, request: Request) -> Response:
        """Return the service's progress."""
        return json_response((await self._status.get()).body)

    async def dashboard(self, request: Request) -> Response:
        """Return the numbers of the dashboard, a moment old unless they take long to compute."""
        return json_response((await _numbers(self._dashboard)).body)

    async def certificate(self, request: Request) -> Response:
        """Return what users' answers certify, a moment old unless that takes long to compute."""
        known: _Written = await _numbers(self._certificate)
        if known.content is None:
            return problem(404, "not-found", "this deployment has no [certificate]")
        return json_response(known.body)

    async def health(self, request: Request) -> Response:
        """Say whether this server can do its work."""
        board = self._service.board
        if board.healthy:
            return json_response({"status": "plan-overdue" if board.overdue else "ok"})
        return problem(503, "database-down", "the database does not respond", {"retry-after": "2"})

    async def metrics(self, request: Request) -> Response:
        """Return counters as Prometheus reads them."""
        known = self._dashboard.latest(_LEARNING_SECONDS)
        text = self._service.metrics.text(gauges(self._service, known and known.content))
        return Response(text, 200, HEADERS, "text/plain; version=0.0.4")

    async def openapi(self, request: Request) -> Response:
        """Return this document: what there is to call."""
        return json_response(self._openapi, cache="public, max-age=3600")


async def _numbers(shared: Shared) -> Any:
    """Return the latest numbers, or have the client come back for the first."""
    known = await shared.get_within(_PATIENCE_SECONDS)
    if known is None:
        raise DelayedError("overloaded", "the first numbers are being computed", retry_after=10)
    return known


def _written(content: Any) -> _Written:
    return _Written(content, msgspec.json.encode(content))


def _number(text: str) -> int:
    """Return a whole number that every language reads exactly, or −1, which nothing has."""
    number = int(text) if text.isascii() and text.isdecimal() and len(text) < 17 else -1
    return number if number < MOST_POLICIES else -1
