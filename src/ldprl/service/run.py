"""Starting the server: one process, or several that share a PostgreSQL database."""

from __future__ import annotations

import functools
import logging
import resource
import signal
import socket
import sys

import uvicorn

from ldprl.errors import InputError
from ldprl.service.app import App
from ldprl.service.causes import DelayedError
from ldprl.service.connection import Connection
from ldprl.service.service import Service
from ldprl.service.settings import Settings
from ldprl.service.store.protocol import without_password
from ldprl.service.workers import supervise

# Threads hand the interpreter over this often: the committer must not wait long for it.
_SWITCH_SECONDS = 0.0005
_GRACE_SECONDS = 20


def serve(
    settings: Settings, host: str, port: int, *, workers: int = 1, access_log: bool = False
) -> None:
    """Serve until told to stop (SIGTERM or SIGINT); what was accepted is answered first.

    Parameters
    ----------
    settings
        What to serve, and from which database.
    host, port
        Where to listen; port 0 takes a free one.
    workers
        How many processes.
    access_log
        Whether to log requests, with the addresses that they came from.
    """
    if workers > 1 and settings.database.startswith("sqlite"):
        expected = "1 with SQLite; give --database postgresql://… for several processes"
        raise InputError("workers", workers, expected)
    listening = _listen(host, port)
    # Opened before anything starts, so that what is wrong with it is said in one line.
    logging.basicConfig(level=logging.INFO, format="%(levelname)s: %(message)s")
    service = _open(settings)
    address = "http://{}:{}".format(*listening.getsockname()[:2])
    print(f"serving {settings.deployment.name!r} at {address}", file=sys.stderr, flush=True)
    if workers > 1:
        service.store.close()
        supervise(functools.partial(_work, settings, listening, access_log), workers)
    else:
        _run(service, listening, access_log)


def _work(settings: Settings, listening: socket.socket, access_log: bool) -> None:
    """Be one of several processes."""
    logging.basicConfig(level=logging.INFO, format="%(levelname)s: %(message)s")
    _run(_open(settings), listening, access_log)


def _run(service: Service, listening: socket.socket, access_log: bool) -> None:
    sys.setswitchinterval(_SWITCH_SECONDS)
    # A connection is an open file, and the usual limit is low.
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    config = uvicorn.Config(
        App(service),
        loop="uvloop",
        http=Connection,
        ws="none",
        lifespan="on",
        log_level="info" if access_log else "warning",
        access_log=access_log,
        server_header=False,
        date_header=False,
        timeout_keep_alive=30,
        timeout_graceful_shutdown=_GRACE_SECONDS,
    )
    # The server raises the signal again once it has stopped in good order: that is no failure.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    uvicorn.Server(config).run(sockets=[listening])


def _open(settings: Settings) -> Service:
    try:
        service = Service(settings)
        service.prepare()
        return service
    except DelayedError as delayed:
        expected = f"one that answers ({delayed.detail})"
        raise InputError("database", without_password(settings.database), expected) from None


def _listen(host: str, port: int) -> socket.socket:
    try:
        family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
        return socket.create_server((host, port), family=family, backlog=2048)
    except OSError as error:
        expected = f"an address that is free ({error.strerror})"
        raise InputError("port", f"{host}:{port}", expected) from None
