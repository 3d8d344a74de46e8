"""A connection costs a bounded amount of memory and time, whatever bytes arrive on it."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import time
from collections.abc import Callable, Iterator
from functools import partial
from ipaddress import ip_network
from pathlib import Path
from typing import Any

import pytest
import uvicorn

from ldprl.service import http_protocol
from ldprl.service.http_protocol import BoundedProtocol
from ldprl.service.limits import Limits

from .conftest import DEPLOYMENT, StartServer
from .test_limits import connected

REQUEST = b"GET / HTTP/1.1\r\nhost: x\r\n\r\n"


async def application(scope: Any, receive: Any, send: Any) -> None:
    """Answer with the path's number of bytes, after the body if the method is POST."""
    if scope["type"] != "http":
        return
    more = scope["method"] == "POST"
    while more:
        more = (await receive()).get("more_body", False)
    size = int(scope["path"].strip("/") or 2)
    headers = [(b"content-length", str(size).encode())]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": b"x" * size})


class Running:
    """A server of the protocol in a thread of its own, with short times."""

    def __init__(self, protocol: type[BoundedProtocol], **config: Any) -> None:
        import threading

        self.socket = socket.create_server(("127.0.0.1", 0))
        self.called = 0

        async def counting(scope: Any, receive: Any, send: Any) -> None:
            self.called += scope["type"] == "http"
            await application(scope, receive, send)

        configured = uvicorn.Config(
            counting, http=protocol, lifespan="off", log_config=None, ws="none", **config
        )
        self.server = uvicorn.Server(configured)
        run = lambda: asyncio.run(self.server.serve(sockets=[self.socket]))  # noqa: E731
        self.thread = threading.Thread(target=run, daemon=True)
        self.thread.start()

    def connect(self, address: str = "127.0.0.1") -> socket.socket:
        where = self.socket.getsockname()[:2]
        return socket.create_connection(where, timeout=60, source_address=(address, 0))

    def unread(self) -> list[int]:
        """Return how many bytes each connection has not taken."""
        return [one.transport.get_write_buffer_size() for one in self.open()]

    def has_responded(self, times: int) -> bool:
        return self.server.server_state.total_requests == times

    def open(self) -> list[Any]:
        return list(self.server.server_state.connections)

    def stop(self) -> None:
        self.server.should_exit = self.server.force_exit = True
        self.thread.join(60)


def wait_until(happened: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 60
    while not happened():
        assert time.monotonic() < deadline
        time.sleep(0.01)


@pytest.fixture
def running(monkeypatch: pytest.MonkeyPatch) -> Iterator[Running]:
    for name in ("HEADER", "IDLE", "WRITE"):
        monkeypatch.setattr(http_protocol, f"{name}_SECONDS", 0.6)
    monkeypatch.setattr(http_protocol, "_SWEEP_SECONDS", 0.1)
    server = Running(BoundedProtocol.bounded_by(Limits(), ()))
    yield server
    server.stop()


def trickle(connection: socket.socket, byte: bytes, seconds: float = 60.0) -> float:
    """Send ``byte`` again and again; return after how long the server hung up."""
    started = time.monotonic()
    with contextlib.suppress(OSError):
        while time.monotonic() - started < seconds:
            connection.sendall(byte)
            connection.setblocking(False)
            with contextlib.suppress(BlockingIOError):
                if connection.recv(65536) == b"":
                    break
            connection.setblocking(True)
            time.sleep(0.02)
    return time.monotonic() - started


@pytest.mark.parametrize("byte", [b"\r\n", b"\n", b"G", b"GET"])
@pytest.mark.parametrize("requests", [0, 1])
def test_bytes_that_make_no_request_do_not_keep_a_connection(
    running: Running, byte: bytes, requests: int
) -> None:
    with running.connect() as connection:
        for _ in range(requests):
            connection.sendall(REQUEST)
            assert connection.recv(65536).startswith(b"HTTP/1.1 200")
        assert trickle(connection, byte) < 30


def test_one_byte_after_a_response_and_then_nothing(running: Running) -> None:
    with running.connect() as connection:
        connection.sendall(REQUEST)
        assert connection.recv(65536).startswith(b"HTTP/1.1 200")
        connection.sendall(b"G")
        started = time.monotonic()
        with contextlib.suppress(ConnectionResetError):
            while connection.recv(65536):
                pass
        assert time.monotonic() - started < 30


def test_the_time_for_headers_does_not_extend_that_of_an_idle_connection(
    running: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(http_protocol, "HEADER_SECONDS", 60.0)
    test_one_byte_after_a_response_and_then_nothing(running)


def test_a_body_that_nobody_waits_for_does_not_keep_a_connection(running: Running) -> None:
    with running.connect() as connection:
        connection.sendall(b"GET / HTTP/1.1\r\nhost: x\r\ncontent-length: 1000000\r\n\r\n")
        assert trickle(connection, b"x") < 30


def test_a_response_that_nobody_reads_is_given_up(running: Running) -> None:
    with running.connect() as connection:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        connection.sendall(b"GET /50000000 HTTP/1.1\r\nhost: x\r\n\r\n")
        deadline = time.monotonic() + 60
        while running.server.server_state.connections:
            assert time.monotonic() < deadline
            time.sleep(0.05)


def test_unread_responses_are_bounded_and_the_greediest_address_is_hung_up_on() -> None:
    """Of ten responses to one address, those that waited longest go; another address keeps its."""
    size, bound = 8_000_000, 20_000_000
    running = Running(BoundedProtocol.bounded_by(Limits(unsent_bytes=bound), ()))
    try:
        with contextlib.ExitStack() as held:
            modest = held.enter_context(running.connect("127.0.0.2"))
            greedy = [held.enter_context(running.connect()) for _ in range(10)]
            for number, connection in enumerate([modest, *greedy]):
                connection.sendall(b"GET /%d HTTP/1.1\r\nhost: x\r\n\r\n" % size)
                wait_until(partial(running.has_responded, number + 1))
            wait_until(lambda: len(running.open()) < 5)
            assert size < sum(running.unread()) <= bound
            took = 0
            while took < size:
                took += len(part := modest.recv(2**20))
                assert part
            assert greedy[-1].recv(65536).startswith(b"HTTP/1.1 200")
    finally:
        running.stop()


def test_a_request_waits_until_the_response_before_it_is_read(
    running: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else a response would be made for each of eight requests, beside what is counted."""
    monkeypatch.setattr(http_protocol, "IDLE_SECONDS", 60.0)
    size = 8_000_000
    with running.connect() as connection:
        connection.sendall(b"GET /%d HTTP/1.1\r\nhost: x\r\n\r\n" % size * 2)
        wait_until(lambda: any(running.unread()))
        assert running.called == 1
        took = 0
        while took < size * 2:
            took += len(part := connection.recv(2**20))
            assert part
        assert running.called == 2
        # What has been read counts no more.
        (open_one,) = running.open()
        wait_until(lambda: not open_one.unread)
        assert running.open()


def test_requests_that_come_behind_pipelined_ones_are_read(running: Running) -> None:
    with running.connect() as connection:
        connection.settimeout(30)
        for requests in (2, 1):
            connection.sendall(REQUEST * requests)
            heard = b""
            while heard.count(b"HTTP/1.1 200") < requests:
                heard += connection.recv(65536)
                assert heard


@pytest.mark.parametrize(
    "start",
    [
        REQUEST[:-2] + b"a: b\r\n" * 2**20,
        REQUEST[:-2] + b"a: " + b"b" * 2**22,
        b"GET /" + b"a" * 2**22,
        b"\r\n" * 2**21,
        b"POST / HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n1\r\nx\r\n0\r\n"
        + b"a: b\r\n" * 2**20,
        b"POST / HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n1\r\nx\r\n0\r\na: "
        + b"b" * 2**22,
        b"POST / HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n1;" + b"b" * 2**22,
        REQUEST * 2**17,
    ],
    ids=["headers", "header", "url", "newlines", "trailers", "trailer", "extension", "pipeline"],
)
def test_what_is_no_body_is_refused_long_before_it_is_large(running: Running, start: bytes) -> None:
    """4 MiB are sent; the server takes less than the kernel's buffers and its own bound hold."""
    with running.connect() as connection:
        sent, began = 0, time.process_time()
        with contextlib.suppress(OSError):
            while sent < len(start):
                sent += connection.send(start[sent : sent + 2**14])
                time.sleep(0.0005)
            while connection.recv(65536):
                pass
    assert time.process_time() - began < 4
    deadline = time.monotonic() + 60
    while running.server.server_state.connections:
        assert time.monotonic() < deadline
        time.sleep(0.02)


def test_a_hundred_headers_are_taken_and_one_more_is_not(running: Running) -> None:
    for count, status in ((99, b"200"), (100, b"400")):
        with running.connect() as connection:
            connection.sendall(b"GET / HTTP/1.1\r\nhost: x\r\n" + b"a: b\r\n" * count + b"\r\n")
            assert connection.recv(65536).startswith(b"HTTP/1.1 " + status)


@pytest.mark.parametrize(
    ("limits", "proxies", "open_ones"),
    [
        (Limits(per_address=5), (), 5),
        (Limits(per_address=5), (ip_network("127.0.0.0/8"),), 8),
        (Limits(per_address=0, connections=6), (), 6),
    ],
)
def test_connections_are_counted(limits: Limits, proxies: tuple[Any, ...], open_ones: int) -> None:
    running = Running(BoundedProtocol.bounded_by(limits, proxies))
    try:
        connections = [running.connect() for _ in range(8)]
        answered = 0
        for connection in connections:
            with contextlib.suppress(OSError):
                connection.sendall(REQUEST)
                answered += connection.recv(65536).startswith(b"HTTP/1.1 200")
            connection.close()
        assert answered == open_ones
        deadline = time.monotonic() + 60
        while running.server.server_state.connections:
            assert time.monotonic() < deadline
        with running.connect() as again:
            again.sendall(REQUEST)
            assert again.recv(65536).startswith(b"HTTP/1.1 200")
    finally:
        running.stop()


@pytest.mark.parametrize("proxy", ["", "127.0.0.1"])
def test_forwarded_addresses_are_believed_from_configured_proxies_alone(
    start_server: StartServer, tmp_path: Path, proxy: str
) -> None:
    options = ("--rate-limit", "2", *(("--proxy", proxy) if proxy else ()))
    server = start_server(DEPLOYMENT, f"sqlite:///{tmp_path}/a.sqlite", *options)
    headers = [{"X-Forwarded-For": f"10.0.0.{number}"} for number in range(20)]
    statuses = [server.get("/v1/deployment", **header).status for header in headers]
    assert (429 in statuses) == (not proxy)


def test_slow_bodies_do_not_keep_others_out(start_server: StartServer, tmp_path: Path) -> None:
    """More slow bodies than requests may be worked on; a good report is counted at once."""
    server = start_server(DEPLOYMENT, f"sqlite:///{tmp_path}/a.sqlite", "--body-seconds", "20")
    start = b"POST /v1/reports HTTP/1.1\r\nhost: x\r\ncontent-length: 100\r\n\r\n{"
    with contextlib.ExitStack() as held:
        for _ in range(2100):
            slow = held.enter_context(connected(server))
            slow.sendall(start)
        assert server.post("/v1/reports", server.report()).json["status"] == "counted"
