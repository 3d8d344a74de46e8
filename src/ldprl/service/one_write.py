"""A short response in one write: uvicorn writes head and body apart, each a call of the system."""

from __future__ import annotations

import functools
from typing import Any, NamedTuple

from starlette.types import Message, Send
from uvicorn.protocols.http.httptools_impl import (
    HEADER_RE,
    HEADER_VALUE_RE,
    STATUS_LINE,
)

_SHORT = 16 * 2**10
"""Longest body that is copied behind its head: longer ones are written as the object they are."""


class OneWrite:
    """Sends the response to one request, head and body together.

    A response that is long, or sent in parts, or that ends the connection, is left to uvicorn.
    """

    def __init__(self, send: Send) -> None:
        # A method of what uvicorn keeps of the request, a RequestResponseCycle.
        self._cycle: Any = send.__self__  # type: ignore[attr-defined]
        self._start: Message | None = None

    async def send(self, message: Message) -> None:
        """Take a message of the application; the start of a response waits for its body."""
        start, self._start = self._start, None
        if start is None:
            if message["type"] == "http.response.start" and not self._cycle.response_started:
                self._start = message
                return
        elif self._wrote(start, message):
            return
        else:
            await self._cycle.send(start)
        await self._cycle.send(message)

    def _wrote(self, start: Message, message: Message) -> bool:
        """Write a whole response, unless it is left to uvicorn."""
        cycle, body = self._cycle, message.get("body", b"")
        if (
            message["type"] != "http.response.body"
            or cycle.disconnected
            or cycle.flow.write_paused
            or not cycle.keep_alive
            or cycle.scope["method"] == "HEAD"
            or message.get("more_body", False)
            or len(body) > _SHORT
        ):
            return False
        head = _head(start["status"], tuple(start["headers"]))
        if head is None or head.length != len(body):
            return False
        cycle.transport.write(head.written + body)
        cycle.response_started = cycle.response_complete = True
        cycle.message_event.set()
        cycle.on_response()
        return True


class _Head(NamedTuple):
    written: bytes
    length: int
    """Of the body."""


@functools.lru_cache(maxsize=256)
def _head(status: int, headers: tuple[tuple[bytes, bytes], ...]) -> _Head | None:
    """Return the head of a response, None if uvicorn has to see to its headers."""
    given = {name.lower(): value for name, value in headers}
    length = given.get(b"content-length")
    if length is None or {b"connection", b"transfer-encoding"} & given.keys():
        return None
    if any(HEADER_RE.search(name) or HEADER_VALUE_RE.search(value) for name, value in headers):
        return None
    lines = b"".join(b"%b: %b\r\n" % header for header in headers)
    return _Head(STATUS_LINE[status] + lines + b"\r\n", int(length))
