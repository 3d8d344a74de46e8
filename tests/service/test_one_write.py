"""A response in one write has the same bytes, and the same end, as uvicorn's two."""

from __future__ import annotations

import asyncio
import logging
from typing import Any, NamedTuple

import pytest
from uvicorn.protocols.http.flow_control import FlowControl
from uvicorn.protocols.http.httptools_impl import RequestResponseCycle

from ldprl.service.one_write import OneWrite

LENGTH = (b"content-length", b"2")
LONG = b"x" * 20_000


class Transport:
    """Keeps what is written to it."""

    def __init__(self) -> None:
        self.writes: list[bytes] = []
        self.closed = False

    def write(self, data: bytes) -> None:
        self.writes.append(bytes(data))

    def close(self) -> None:
        self.closed = True

    def is_closing(self) -> bool:
        return self.closed


class Outcome(NamedTuple):
    written: bytes
    error: str
    closed: bool
    started: bool
    complete: bool
    ended: int
    woken: bool


def cycle_of(transport: Transport, flow: FlowControl, method: str = "GET") -> RequestResponseCycle:
    return RequestResponseCycle(
        scope={"method": method},  # type: ignore[typeddict-item]
        transport=transport,  # type: ignore[arg-type]
        flow=flow,
        logger=logging.getLogger(),
        access_logger=logging.getLogger(),
        access_log=False,
        default_headers=[],
        message_event=asyncio.Event(),
        expect_100_continue=False,
        keep_alive=True,
        on_response=lambda: None,
    )


def outcome(
    messages: list[dict[str, Any]], joined: bool, **given: Any
) -> tuple[Outcome, list[bytes]]:
    """Send messages through uvicorn, at once or by way of ``OneWrite``."""
    transport, ended, error = Transport(), list[None](), ""
    cycle = cycle_of(transport, FlowControl(transport), given.pop("method", "GET"))  # type: ignore[arg-type]
    cycle.keep_alive = given.pop("keep_alive", True)
    cycle.on_response = lambda: ended.append(None)
    cycle.disconnected = given.pop("disconnected", False)
    assert not given
    send: Any = OneWrite(cycle.send).send if joined else cycle.send  # type: ignore[arg-type]

    async def run() -> None:
        for message in messages:
            await send(message)

    try:
        asyncio.run(run())
    except (RuntimeError, ValueError) as raised:
        error = str(raised)
    found = Outcome(
        b"".join(transport.writes),
        error,
        transport.closed,
        cycle.response_started,
        cycle.response_complete,
        len(ended),
        cycle.message_event.is_set(),
    )
    return found, transport.writes


def response(body: bytes, *headers: tuple[bytes, bytes], status: int = 200) -> list[dict[str, Any]]:
    start = {"type": "http.response.start", "status": status, "headers": list(headers)}
    return [start, {"type": "http.response.body", "body": body}]


def parts(*bodies: bytes) -> list[dict[str, Any]]:
    length = (b"content-length", b"%d" % sum(map(len, bodies)))
    start, _ = response(b"", length)
    more = [{"type": "http.response.body", "body": one, "more_body": True} for one in bodies]
    return [start, *more, {"type": "http.response.body", "body": b""}]


@pytest.mark.parametrize(
    "messages",
    [
        response(b"ok", (b"X-Name", b"value"), LENGTH),
        response(b"", (b"content-length", b"0"), status=404),
        response(b"", status=304),
        response(b"ok"),
        response(b"ok", LENGTH, (b"connection", b"close")),
        response(b"ok", LENGTH, (b"Connection", b"close")),
        response(b"ok", (b"transfer-encoding", b"chunked")),
        response(b"longer", LENGTH),
        response(b"s", LENGTH),
        response(b"ok", LENGTH, (b"bad name", b"value")),
        response(b"ok", LENGTH, (b"name", b"two\r\nlines")),
        response(LONG, (b"content-length", b"%d" % len(LONG))),
        parts(b"one", b"two"),
        response(b"ok", LENGTH)[:1] * 2,
        response(b"", (b"content-length", b"0"))[:1] * 2,
        response(b"ok", LENGTH)[1:],
        [*response(b"ok", LENGTH), *response(b"ok", LENGTH)],
    ],
)
@pytest.mark.parametrize(
    "given", [{}, {"method": "HEAD"}, {"keep_alive": False}, {"disconnected": True}]
)
def test_it_ends_like_a_response_of_uvicorn(
    messages: list[dict[str, Any]], given: dict[str, Any]
) -> None:
    expected, _ = outcome(messages, joined=False, **given)
    found, _ = outcome(messages, joined=True, **given)
    if not expected.error:
        assert found._replace(written=found.written.lower()) == expected._replace(
            written=expected.written.lower()
        )
    else:
        assert found.error


def test_a_short_response_is_one_write_and_a_long_body_is_not_copied() -> None:
    _, writes = outcome(response(b"ok", LENGTH), joined=True)
    assert len(writes) == 1
    _, writes = outcome(response(LONG, (b"content-length", b"%d" % len(LONG))), joined=True)
    assert len(writes) == 2


def test_a_response_waits_until_the_client_reads() -> None:
    transport = Transport()
    flow = FlowControl(transport)  # type: ignore[arg-type]
    send: Any = OneWrite(cycle_of(transport, flow).send).send  # type: ignore[arg-type]

    async def run() -> None:
        flow.pause_writing()
        start, body = response(b"ok", LENGTH)
        await send(start)
        sending = asyncio.create_task(send(body))
        await asyncio.sleep(0)
        assert transport.writes == []
        flow.resume_writing()
        await sending

    asyncio.run(run())
    assert b"".join(transport.writes).endswith(b"ok")
