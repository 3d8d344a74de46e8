"""Flooding and slow clients are held off; nothing grows without bound."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import time
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from ldprl.service.causes import DelayedError, RejectionError
from ldprl.service.http_protocol import HEADER_SECONDS
from ldprl.service.limits import Gate, Limits, Slots, address_key

from .conftest import DEPLOYMENT, StartServer
from .server import Server


def scope(address: str = "10.0.0.1", **headers: str) -> dict[str, Any]:
    listed = [(name.encode(), value.encode()) for name, value in headers.items()]
    return {"type": "http", "client": (address, 1), "headers": listed}


def test_an_address_gets_two_seconds_worth_and_then_its_rate() -> None:
    now = [0.0]
    gate = Gate(Limits(rate=10), lambda: now[0])

    def passes(address: str) -> int:
        count = 0
        with contextlib.suppress(DelayedError):
            while True:
                with gate.enter(scope(address)):
                    count += 1
        with pytest.raises(DelayedError) as caught, gate.enter(scope(address)):
            pass
        assert (caught.value.status, caught.value.retry_after) == (429, 1)
        return count

    assert passes("10.0.0.1") == 20
    assert passes("10.0.0.2") == 20
    now[0] = 0.5
    assert passes("10.0.0.1") == 5


def test_several_places_are_taken_together() -> None:
    slots = Slots(10)
    with slots.several(4), slots.several(6), pytest.raises(DelayedError), slots.several(1):
        pass
    with slots.several(1000), pytest.raises(DelayedError), slots.several(1):
        pass
    with slots.several(10):
        pass


def test_addresses_are_kept_in_bounded_memory() -> None:
    gate = Gate(Limits())
    for number in range(70_000):
        with gate.enter(scope(str(number))):
            pass
    assert len(gate._buckets) <= 65_536


def test_no_more_than_so_many_requests_are_worked_on_at_once() -> None:
    gate = Gate(Limits(requests=1))
    with gate.work(), pytest.raises(DelayedError, match="overloaded"), gate.work():
        pass
    with gate.work():
        pass


def test_an_address_has_so_many_requests_at_once_and_leaves_room_for_others() -> None:
    gate = Gate(Limits(per_address=2))
    with contextlib.ExitStack() as held:
        for address in ("10.0.0.1", "10.0.0.1", "10.0.0.2"):
            held.enter_context(gate.enter(scope(address)))
        with pytest.raises(DelayedError, match="rate-limited"):
            held.enter_context(gate.enter(scope()))
    with gate.enter(scope()), gate.enter(scope()):
        pass
    assert not gate._by_address


@pytest.mark.parametrize(
    ("address", "key"),
    [
        ("10.0.0.1", "10.0.0.1"),
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::"),
        ("2001:db8:1:2::1", "2001:db8:1:2::"),
        ("::ffff:10.0.0.1", "10.0.0.1"),
        ("not: an address", "not: an address"),
    ],
)
def test_what_counts_as_one_address(address: str, key: str) -> None:
    assert address_key(address) == key


def test_bodies_together_are_bounded_and_let_go_of() -> None:
    gate = Gate(Limits(body_bytes=100, held_bytes=150))

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": b"x" * 100}

    async def fill() -> None:
        first = await gate.read(scope(), receive)
        with pytest.raises(DelayedError, match="overloaded"):
            await gate.read(scope(), receive)
        gate.release(len(first))
        assert await gate.read(scope(), receive)

    asyncio.run(fill())


def test_of_a_body_that_is_too_large_no_more_is_held_than_of_one_that_is_not() -> None:
    gate, held = Gate(Limits(body_bytes=100, held_bytes=1000)), list[int]()

    async def receive() -> dict[str, Any]:
        held.append(gate._bytes)
        return {"type": "http.request", "body": b"x" * 60, "more_body": len(held) < 6}

    with pytest.raises(RejectionError, match="too-large"):
        asyncio.run(gate.read(scope(), receive))
    assert max(held) == 60
    assert len(held) == 6
    assert gate._bytes == 0


def test_a_flood_is_answered_429_with_retry_after(
    start_server: StartServer, tmp_path: Path
) -> None:
    server = start_server(DEPLOYMENT, f"sqlite:///{tmp_path}/a.sqlite", "--rate-limit", "1")
    answers = [server.get("/v1/deployment") for _ in range(30)]
    held_off = [answer for answer in answers if answer.status == 429]
    assert held_off
    assert {answer.json["cause"] for answer in held_off} == {"rate-limited"}
    assert {answer.headers["retry-after"] for answer in held_off} == {"1"}
    assert server.get("/healthz").status == 200


def test_a_slow_body_is_cut_off(start_server: StartServer, tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/a.sqlite"
    server = start_server(DEPLOYMENT, url, "--body-seconds", "1")
    with connected(server) as slow:
        slow.sendall(b"POST /v1/reports HTTP/1.1\r\nhost: x\r\ncontent-length: 100\r\n\r\n{")
        started = time.monotonic()
        answer = slow.makefile("rb").read()
        assert time.monotonic() - started < 9
        assert answer.startswith(b"HTTP/1.1 429 ")
        assert b"retry-after: 1" in answer


@pytest.mark.slow
@pytest.mark.parametrize("start", [b"", b"GET /v1/status HTTP/1.1\r\nhost:"])
def test_a_connection_without_a_request_is_hung_up_on(
    start_server: StartServer, tmp_path: Path, start: bytes
) -> None:
    server = start_server(DEPLOYMENT, f"sqlite:///{tmp_path}/a.sqlite")
    with connected(server) as idle:
        started = time.monotonic()
        idle.sendall(start)
        assert idle.recv(65536) == b""
        assert HEADER_SECONDS - 1 < time.monotonic() - started < HEADER_SECONDS + 5
    assert server.get("/healthz").status == 200


def connected(server: Server) -> socket.socket:
    where = urlsplit(server.url)
    return socket.create_connection((where.hostname or "", where.port or 0), timeout=20)
