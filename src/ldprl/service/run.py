"""Starting the server: one process, or several that share a PostgreSQL database."""

from __future__ import annotations

import functools
import gc
import logging
import resource
import signal
import socket
import sys
from collections.abc import Sequence
from ipaddress import ip_network

import uvicorn
from starlette.types import ASGIApp

from ldprl.errors import InputError
from ldprl.service.app import App
from ldprl.service.causes import DelayedError
from ldprl.service.database import path_of
from ldprl.service.database.protocol import without_password
from ldprl.service.http_protocol import BoundedProtocol
from ldprl.service.limits import Limits
from ldprl.service.logs import configure_logs
from ldprl.service.service import Service
from ldprl.service.settings import ServiceSettings
from ldprl.service.watch import Watch
from ldprl.service.workers import supervise

# Threads hand the interpreter over this often: the committer must not wait long for it.
_SWITCH_SECONDS = 0.0005
_GRACE_SECONDS = 20
"""How long accepted requests may take to finish after a signal to stop."""
_log = logging.getLogger("ldprl.service")


def serve(
    settings: ServiceSettings,
    host: str,
    port: int,
    *,
    workers: int = 1,
    access_log: bool = False,
    log_format: str = "text",
) -> None:
    """Serve until SIGTERM or SIGINT; requests that were accepted get their responses first.

    Parameters
    ----------
    settings
        What to serve, and from which database.
    host, port
        Where to listen; port 0 takes a free one.
    workers
        How many processes.
    access_log
        Whether to log requests: method, route, status and duration.
    log_format
        ``text`` or ``json``.
    """
    if workers > 1 and settings.database_url.startswith("sqlite"):
        expected = "1 with SQLite; give --database postgresql://… for several processes"
        raise InputError("workers", workers, expected)
    configure_logs(log_format)
    # Before it listens: a server that cannot respond yet refuses connections.
    _wait_for_database(settings)
    with listen(host, port) as listening:
        # Opened before anything starts, so that what is wrong with it is said in one line.
        service = _open(settings)
        address = "http://{}:{}".format(*listening.getsockname()[:2])
        _log.info("serving %r at %s", settings.deployment.name, address)
        if workers > 1:
            service.database.close()
            work = functools.partial(_work, settings, listening, access_log, log_format)
            supervise(work, workers)
        else:
            _run(service, listening, access_log)


def _work(
    settings: ServiceSettings, listening: socket.socket, access_log: bool, log_format: str
) -> None:
    """Run one of several server processes."""
    configure_logs(log_format)
    _wait_for_database(settings)
    _run(_open(settings), listening, access_log)


def _run(service: Service, listening: socket.socket, access_log: bool) -> None:
    settings = service.settings
    app = Watch(App(service), service.metrics, access_log)
    run_app(app, listening, settings.limits, settings.proxies)


def run_app(
    app: ASGIApp, listening: socket.socket, limits: Limits, proxies: Sequence[str] = ()
) -> None:
    """Serve an application until a signal says to stop."""
    sys.setswitchinterval(_SWITCH_SECONDS)
    # What is there by now stays: to look through it for garbage takes a tenth of a second, in which
    # nobody gets a response.
    gc.collect()
    gc.freeze()
    # A connection is an open file, and the usual limit is low.
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    networks = [ip_network(proxy) for proxy in proxies]
    config = uvicorn.Config(
        app,
        loop="uvloop",
        http=BoundedProtocol.bounded_by(limits, networks),
        proxy_headers=bool(networks),
        forwarded_allow_ips=list(proxies),
        ws="none",
        lifespan="on",
        log_config=None,
        access_log=False,
        server_header=False,
        date_header=False,
        timeout_keep_alive=30,
        timeout_graceful_shutdown=_GRACE_SECONDS,
    )
    # The server raises the signal again once it has stopped in good order: that is no failure.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    uvicorn.Server(config).run(sockets=[listening])


def _wait_for_database(settings: ServiceSettings) -> None:
    if path_of(settings.database_url) is None:
        from ldprl.service.database.session import wait_for_postgres

        wait_for_postgres(settings.database_url, settings.database_wait)


def _open(settings: ServiceSettings) -> Service:
    try:
        service = Service(settings)
        try:
            service.prepare()
        except BaseException:
            service.database.close()
            raise
        return service
    except DelayedError as delayed:
        expected = f"one that responds ({delayed.detail})"
        raise InputError("database", without_password(settings.database_url), expected) from None


def listen(host: str, port: int) -> socket.socket:
    """Return a listening socket, or say in one line why there is none."""
    try:
        family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
        return socket.create_server((host, port), family=family, backlog=2048)
    except OSError as error:
        expected = f"an address that is free ({error.strerror})"
        raise InputError("port", f"{host}:{port}", expected) from None
