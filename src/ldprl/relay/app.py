"""The relay's side towards clients: the deployment, the plan, and where to leave a report."""

from __future__ import annotations

import asyncio
import binascii
import functools
from base64 import b64decode
from html import escape
from typing import Any, cast

import msgspec
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from ldprl.protocol.deployment import Deployment
from ldprl.relay.courier import Courier
from ldprl.relay.store import Held, RelayStore
from ldprl.service.causes import REFUSALS, DelayedError, RejectionError
from ldprl.service.committer import Committer
from ldprl.service.limits import Gate, Limits
from ldprl.service.metrics import Gauge, Metrics
from ldprl.service.responses import (
    API_POLICY,
    HEADERS,
    JSON,
    PACKED,
    PAGE_POLICY,
    VARIES,
    compressed,
    delayed,
    json_response,
    problem,
    tagged,
    takes_gzip,
)
from ldprl.service.shell import Shell
from ldprl.service.tokens import is_bearer

_PAGE = """<!doctype html>
<html lang="en"><meta charset="utf-8"><meta http-equiv="refresh" content="10">
<meta name="viewport" content="width=device-width">
<title>{title}: relay</title>
<h1>{title}: relay</h1>
<p>{words}</p>
<p>Version {version} waits for a crowd of {crowd} reports. Handed over so far: {crowds}.</p>
</html>
"""


class Sealed(msgspec.Struct, frozen=True, gc=False, forbid_unknown_fields=True):
    """A sealed report on the wire."""

    deployment: str
    version: int
    sealed: str


_PLAN_CACHE = "public, max-age=1"
"""Thousands of users in a second are one request behind a cache. Not longer: a report under a plan
whose crowd is complete waits for another crowd."""
_one = msgspec.json.Decoder(Sealed)
_compressed = functools.lru_cache(maxsize=1)(compressed)


class RelayApp(Shell):
    """An ASGI application around one relay, which it starts and stops."""

    def __init__(
        self,
        deployment: Deployment,
        store: RelayStore,
        courier: Courier,
        limits: Limits,
        metrics: Metrics,
        metrics_token_hash: str | None = None,
    ) -> None:
        self._deployment = deployment
        self._digest = deployment.digest
        self._document = msgspec.json.encode(
            {"digest": deployment.digest, "deployment": deployment.document}
        )
        self._store = store
        self._courier = courier
        self._metrics_token_hash = metrics_token_hash
        # The committer asks of a store no more than commit().
        self._committer = Committer(cast(Any, store), metrics)
        routes = [
            Route("/", self._get_page),
            Route("/v1/deployment", self._get_deployment),
            Route("/v1/policy", self._get_policy),
            Route("/v1/status", self._get_status),
            Route("/metrics", self._get_metrics),
            Route("/healthz", self._get_health),
        ]
        super().__init__(routes, Gate(limits), metrics, self._begin, self._end)

    async def take(self, body: bytes | bytearray, address: str) -> Response:
        """Keep one sealed report."""
        held = self._admit(body)
        (verdict,) = await self._committer.submit(cast(Any, (held,)))
        if verdict == "expired-version":
            raise _expired()
        self._metrics.reports[verdict] += 1
        # The same response for both: a retry learns nothing from it.
        return json_response(b'{"status":"accepted"}')

    def refused(self, error: RejectionError) -> Response:
        """Count a refusal, and return the response that says why."""
        self._metrics.reports["refused"] += 1
        self._metrics.refused[error.cause] += 1
        self._committer.note(error.cause)
        return problem(REFUSALS[error.cause], error.cause, error.detail)

    def _admit(self, body: bytes | bytearray) -> Held:
        try:
            report = _one.decode(body)
            sealed = b64decode(report.sealed, validate=True)
        except (msgspec.DecodeError, binascii.Error, ValueError, RecursionError) as error:
            raise RejectionError("malformed", str(error)[:200]) from None
        if report.deployment != self._digest:
            raise RejectionError("other-deployment", f"this is deployment {self._digest}")
        current, plan = self._courier.current, self._courier.open.get(report.version)
        if current is None:
            raise DelayedError("between-versions", "no plan has been seen yet")
        if plan is None:
            newest = current.version
            if 0 < report.version < newest:
                raise _expired()
            raise RejectionError("unknown-version", f"version {newest} is the newest")
        if len(sealed) != plan.size:
            raise RejectionError("wrong-alphabet", f"expected {plan.size} sealed bytes")
        return Held(report.version, sealed)

    async def _get_deployment(self, _: Request) -> Response:
        """Return the frozen parameters and their digest."""
        return json_response(self._document)

    async def _get_policy(self, request: Request) -> Response:
        """Return the plan in force: the same bytes for everybody, whoever asks."""
        current = self._courier.current
        if current is None or self._courier.between_versions:
            return delayed(DelayedError("between-versions", "the next plan is being made"))
        packs = takes_gzip(request)
        body = await asyncio.to_thread(_compressed, current.body) if packs else current.body
        tag = f"{self._digest}-{current.version}{'-gzip' if packs else ''}"
        headers = PACKED if packs else VARIES
        return tagged(request, body, tag, JSON, API_POLICY, cache=_PLAN_CACHE, headers=headers)

    def _status(self) -> dict[str, Any]:
        """Return what is handed over: whole crowds only, so that no single report shows.

        Not how full a crowd is: whoever adds reports up to a step would see the next one come.
        """
        current = self._courier.current
        return {
            "deployment": self._digest,
            "version": 0 if current is None else current.version,
            "crowd": self._courier.crowd,
            "crowds": self._store.crowds(),
        }

    # No coroutines: what reads the database may wait for a transaction, and does so in a thread.

    def _get_status(self, _: Request) -> Response:
        """Return what is handed over, for programs."""
        return json_response(self._status())

    def _get_page(self, _: Request) -> Response:
        """Return what is handed over, for people."""
        assert self._deployment.shuffle is not None
        said = self._status()
        words = self._deployment.shuffle.promises(self._deployment.built)
        text = _PAGE.format(
            title=escape(self._deployment.name),
            words=escape(words),
            version=said["version"],
            crowd=f"{said['crowd']:,}",
            crowds=_times(said["crowds"]),
        )
        policy = {"content-security-policy": PAGE_POLICY, "cache-control": "no-store"}
        return Response(text, 200, HEADERS | policy, "text/html; charset=utf-8")

    def _get_metrics(self, request: Request) -> Response:
        """Return counters as Prometheus reads them: single reports, so for the operator alone."""
        if self._metrics_token_hash is None:
            return problem(404, "not-found", "this relay was started without a metrics token")
        if not is_bearer(request.headers.get("authorization", ""), self._metrics_token_hash):
            return problem(401, "unauthorized", "expected the metrics token")
        current, outcomes = self._courier.current, self._store.outcomes()
        waiting = 0 if current is None else self._store.waiting(current.version)
        gauges = [Gauge("ldprl_relay_waiting", "Reports of the current version.", waiting)]
        for name in ("handed-over", "destroyed"):
            gauge = f"ldprl_relay_{name.replace('-', '_')}"
            gauges.append(Gauge(gauge, f"Reports {name}, ever.", outcomes.get(name, 0)))
        text = self._metrics.text(gauges)
        return Response(text, 200, HEADERS, "text/plain; version=0.0.4")

    async def _get_health(self, _: Request) -> Response:
        """Say whether this relay can do its work."""
        if self._courier.trouble:
            return problem(503, "service-down", self._courier.trouble)
        return json_response({"status": "ok"})

    def _begin(self) -> None:
        self._committer.start()
        self._courier.start()

    def _end(self) -> None:
        self._courier.stop()
        self._committer.close()
        self._store.close()


def _expired() -> RejectionError:
    return RejectionError("expired-version", "this version's window has ended")


def _times(crowds: int) -> str:
    return "1 crowd" if crowds == 1 else f"{crowds:,} crowds"
