"""However a service spreads its bytes, an exchange with it ends in the time that it was given."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from ldprl.client import Client, UnavailableError
from ldprl.client.connection import Connection
from ldprl.relay.upstream import Upstream, UpstreamError

from .conftest import DEPLOYMENT, step

TIMEOUT = 0.4
HEAD = b"HTTP/1.1 200 OK\r\n"
DRIPS = {
    "silence": (b"", b""),
    "status": (b"", b"H"),
    "headers": (HEAD, b"X"),
    "endless headers' lines": (HEAD + b"A: b\r\n", b"x" * 100),
    "body": (HEAD + b"Content-Length: 1000\r\n\r\n", b" "),
    "body without length": (HEAD + b"Connection: close\r\n\r\n", b" "),
    "chunk sizes": (HEAD + b"Transfer-Encoding: chunked\r\n\r\n", b"0"),
    "chunks": (HEAD + b"Transfer-Encoding: chunked\r\n\r\n", b"1\r\n \r\n"),
    "trailers": (HEAD + b"Transfer-Encoding: chunked\r\n\r\n0\r\n", b"A: b\r\n"),
    "continue": (b"", b"HTTP/1.1 100 Continue\r\n\r\n"),
}


@contextmanager
def dripping(first: bytes, then: bytes, pause: float = 0.02) -> Iterator[str]:
    """Serve these bytes to whoever comes, the second ones again and again; yield the address."""
    stop = threading.Event()

    def serve(line: socket.socket) -> None:
        with line:
            try:
                line.recv(2**16)
                line.sendall(first)
                while not stop.wait(pause):
                    line.sendall(then)
            except OSError:
                pass

    def accept(server: socket.socket) -> None:
        while not stop.is_set():
            try:
                line, _ = server.accept()
            except OSError:
                return
            threads.append(threading.Thread(target=serve, args=(line,)))
            threads[-1].start()

    with socket.create_server(("127.0.0.1", 0)) as server:
        threads = [threading.Thread(target=accept, args=(server,))]
        threads[0].start()
        try:
            yield f"http://127.0.0.1:{server.getsockname()[1]}"
        finally:
            stop.set()
            server.shutdown(socket.SHUT_RDWR)
            for thread in threads:
                thread.join(5)


def seconds(call: Callable[[], object], error: type[Exception]) -> float:
    """Return how long a call takes that must fail; a call that hangs fails the test."""
    result: list[BaseException | None] = []

    def run() -> None:
        try:
            call()
            result.append(None)
        except BaseException as found:
            result.append(found)

    thread = threading.Thread(target=run, daemon=True)
    started = time.monotonic()
    thread.start()
    thread.join(20)
    assert not thread.is_alive(), "it hangs"
    assert isinstance(result[0], error), result
    return time.monotonic() - started


@pytest.mark.parametrize("part", DRIPS)
def test_a_service_that_drips_is_given_up(path: Path, part: str) -> None:
    with dripping(*DRIPS[part]) as url:
        client = Client(url, digest=DEPLOYMENT.digest, ledger=path, patience=0.01, timeout=TIMEOUT)
        took = seconds(lambda: client.take_part(0, step), UnavailableError)
        # The lock is free again.
        client.close()
    assert TIMEOUT <= took < TIMEOUT + 5
    assert not path.exists()


def test_a_flood_of_continue_is_given_up_too(path: Path) -> None:
    """Without a pause: there is always something to read."""
    with dripping(b"", b"HTTP/1.1 100 Continue\r\n\r\n" * 1000, 0) as url:
        connection = Connection(url, TIMEOUT)
        took = seconds(lambda: connection.request("GET", "/"), TimeoutError)
    assert took < TIMEOUT + 5


def test_a_handshake_that_never_ends_is_given_up() -> None:
    with dripping(b"", b"\x16") as url:
        connection = Connection(url.replace("http:", "https:"), TIMEOUT)
        took = seconds(lambda: connection.request("GET", "/"), OSError)
    assert took < TIMEOUT + 5


def test_a_service_that_does_not_read_is_given_up() -> None:
    """What is sent has the same deadline: here far more than the buffers between the two hold."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        connection = Connection(f"http://127.0.0.1:{server.getsockname()[1]}", TIMEOUT)
        body = bytes(2**26)
        took = seconds(lambda: connection.request("POST", "/", body), TimeoutError)
    assert took < TIMEOUT + 5


def test_all_addresses_of_a_host_share_the_time(monkeypatch: pytest.MonkeyPatch) -> None:
    found = socket.getaddrinfo("127.0.0.1", 1, type=socket.SOCK_STREAM) * 50
    tried: list[float] = []

    def slow(place: tuple[str, int], left: float) -> socket.socket:
        tried.append(left)
        time.sleep(min(left, TIMEOUT / 4))
        raise TimeoutError

    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: found)
    monkeypatch.setattr(socket, "create_connection", slow)
    connection = Connection("http://many.example", TIMEOUT)
    took = seconds(lambda: connection.request("GET", "/"), TimeoutError)
    assert took < TIMEOUT + 5
    assert len(tried) < 10
    assert max(tried) <= TIMEOUT


@pytest.mark.parametrize("part", ["headers", "continue", "chunk sizes"])
def test_a_relay_gives_its_service_up_too(part: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ldprl.relay.upstream._FETCH_SECONDS", TIMEOUT)
    with dripping(*DRIPS[part]) as url:
        assert seconds(Upstream(url, "token").plan, UpstreamError) < TIMEOUT + 5
