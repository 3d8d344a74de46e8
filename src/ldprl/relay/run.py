"""Starting a relay: one process, one SQLite file."""

from __future__ import annotations

import logging
import time

from ldprl.errors import InputError
from ldprl.protocol.deployment import Deployment, digest_of
from ldprl.relay.app import RelayApp
from ldprl.relay.courier import Courier
from ldprl.relay.store import RelayStore
from ldprl.relay.upstream import Upstream, UpstreamError
from ldprl.service.limits import Limits
from ldprl.service.logs import configure_logs
from ldprl.service.metrics import Metrics
from ldprl.service.run import listen, run_app
from ldprl.service.watch import Watch

_PATIENCE = 60.0
"""Seconds to wait for a service that may be starting."""
_LINGER, _MOST_LINGER = 30.0, 86400.0
"""Seconds that a crowd waits for users in mid-episode where no episode's length is stated: by
default, and at most."""
_log = logging.getLogger("ldprl.relay")


def relay(
    service: str,
    token: str,
    database: str,
    host: str,
    port: int,
    *,
    linger: float | None,
    rate: int,
    digest: str | None = None,
    metrics_token_hash: str | None = None,
    log_format: str = "text",
) -> None:
    """Relay until a signal says to stop. Reports that are no crowd yet stay in the database."""
    configure_logs(log_format)
    upstream = Upstream(service, token)
    deployment = _deployment(upstream, service, digest)
    linger = checked_linger(deployment, linger)
    store = RelayStore(database, deployment.digest)
    courier = Courier(store, upstream, deployment, linger)
    metrics = Metrics()
    listening = listen(host, port)
    _log.info("relaying %r at http://%s:%d", deployment.name, *listening.getsockname()[:2])
    limits = Limits(body_bytes=2**21, rate=rate, per_address=Limits.per_address if rate else 0)
    app = RelayApp(deployment, store, courier, limits, metrics, metrics_token_hash)
    run_app(Watch(app, metrics, access_log=False), listening, limits)


def checked_linger(deployment: Deployment, linger: float | None) -> float:
    """Return how many seconds a crowd waits for users in mid-episode, or refuse it.

    Without a number it is an episode, so that none of them is left behind, if the window has room.
    """
    duration, longest = deployment.duration, _MOST_LINGER
    if duration is not None:
        longest = max(longest, 3600.0 * duration.hours)
    if linger is None:
        return _LINGER if duration is None else duration.linger(deployment.report_window_hours)
    if not 0 <= linger <= longest:
        raise InputError("linger", linger, f"seconds, from 0 to {longest:g}")
    if duration is not None:
        duration.check_window(deployment.report_window_hours, linger)
    return linger


def _deployment(upstream: Upstream, url: str, digest: str | None) -> Deployment:
    """Fetch the deployment, for a while; the service may be starting."""
    deadline, waiting = time.monotonic() + _PATIENCE, False
    while True:
        try:
            document = upstream.deployment()
            break
        except UpstreamError as error:
            if time.monotonic() > deadline:
                raise InputError("service", url, f"one that responds ({error})") from None
            if not waiting:
                waiting = True
                _log.warning("%s: %s; waiting for %g s at most", url, error, _PATIENCE)
            time.sleep(0.2)
    if digest is not None and digest_of(document) != digest:
        raise InputError("digest", digest, f"{digest_of(document)}, which the service has")
    return Deployment.from_document(document)
