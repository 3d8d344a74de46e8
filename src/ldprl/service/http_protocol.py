"""uvicorn's HTTP protocol with a bound on everything that a connection can make grow or last."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Sequence
from ipaddress import IPv4Network, IPv6Network, ip_address
from typing import Any, ClassVar

import httptools
from starlette.types import Receive, Scope, Send
from uvicorn.protocols.http.flow_control import FlowControl
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from ldprl.service.limits import Limits, address_key
from ldprl.service.one_write import OneWrite

HEADER_SECONDS = 10.0
"""How long a request's headers may take, from its first byte or from the connection's start."""
IDLE_SECONDS = 30.0
"""How long a connection may stay open without a complete request after a response."""
WRITE_SECONDS = 30.0
"""How long a client may leave a response unread once the buffers are full."""
REQUEST_SECONDS = 120.0
"""How long a request may take from its headers to the end of its response."""
_SWEEP_SECONDS = 1.0
"""Time between two sweeps, by which a deadline may be missed."""
_MOST_HEADERS = 100
"""Headers of a request."""
_MOST_OVERHEAD = 32 * 2**10
"""Most bytes in a row that are no part of a body: a request's line and headers, or framing."""
_UNSENT_BYTES = 16 * 2**10
"""Bytes that one connection may leave unread before they are counted: a response to a report."""
_MOST_PIPELINED = 8
"""Requests that may wait on one connection for the response to an earlier one."""

Network = IPv4Network | IPv6Network


class BoundedProtocol(HttpToolsProtocol):
    """One connection. Its deadline is set by what it has completed, never by bytes that arrive.

    A sweep over all connections closes those whose deadline has passed: a request then costs an
    assignment, and no timer.
    """

    limits = Limits()
    proxies: Sequence[Network] = ()
    by_address: ClassVar[Counter[str]] = Counter()
    unread: ClassVar[dict[BoundedProtocol, int]] = {}
    """How many bytes connections have not read that have more to read than is left uncounted."""
    sweeping: ClassVar[set[asyncio.AbstractEventLoop]] = set()

    _deadline = 0.0
    _request_deadline = 0.0
    _overhead = 0
    _in_body = False
    _address: str | None = None

    @classmethod
    def bounded_by(cls, limits: Limits, proxies: Sequence[Network]) -> type[BoundedProtocol]:
        """Return the protocol of one server, with its limits and its own counts."""
        own: dict[str, Any] = {"limits": limits, "proxies": proxies}
        own |= {"by_address": Counter(), "unread": {}, "sweeping": set()}
        return type("ServerProtocol", (cls,), own)

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Set the deadline for the first request, or close the connection if there are too many."""
        super().connection_made(transport)
        transport.set_write_buffer_limits(_UNSENT_BYTES)
        self.app = _AfterReading(self.app, self.flow)
        self._deadline = self.loop.time() + HEADER_SECONDS
        if self.loop not in self.sweeping:
            self.sweeping.add(self.loop)
            self._sweep()
        most, client = self.limits.per_address, self.client
        if most and client is not None and not self._is_proxy(client[0]):
            self._address = address_key(client[0])
            self.by_address[self._address] += 1
            if self.by_address[self._address] > most:
                transport.abort()
        if len(self.connections) > self.limits.connections:
            transport.abort()

    def connection_lost(self, exc: Exception | None) -> None:
        """Make room for another connection."""
        if self._address is not None:
            self.by_address[self._address] -= 1
            if not self.by_address[self._address]:
                del self.by_address[self._address]
            self._address = None
        self.unread.pop(self, None)
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Parse what arrived. Nothing here is logged: anybody can send anything."""
        if self.transport.is_closing():
            return
        self._overhead += len(data)
        try:
            self.parser.feed_data(data)
        except httptools.HttpParserUpgrade:
            # There is nothing to upgrade to, and the request itself has been dispatched.
            return
        except httptools.HttpParserError:
            self.send_400_response("Invalid HTTP request received.")
            return
        if self._overhead > _MOST_OVERHEAD:
            self.send_400_response("Too many bytes of headers.")

    def on_message_begin(self) -> None:
        """Set the deadline for the rest of a request's headers."""
        super().on_message_begin()
        self._in_body = False
        self._deadline = min(self._deadline, self.loop.time() + HEADER_SECONDS)

    def on_header(self, name: bytes, value: bytes) -> None:
        """Take a header; trailers would change a request that is already being served."""
        if self._in_body or len(self.headers) >= _MOST_HEADERS:
            raise ValueError("trailers, or too many headers")
        HttpToolsProtocol.on_header(self, name, value)

    def on_headers_complete(self) -> None:
        """Start the time that body, work and response may take."""
        if len(self.pipeline) >= _MOST_PIPELINED:
            raise ValueError("too many requests before the first response")
        self._in_body = True
        self._overhead = 0
        self.allow(REQUEST_SECONDS)
        self.scope["ldprl.allow"] = self.allow  # type: ignore[typeddict-unknown-key]
        super().on_headers_complete()

    def allow(self, seconds: float) -> None:
        """Set the deadline of the current request; an application may ask for more time."""
        self._deadline = self._request_deadline = self.loop.time() + seconds

    def on_body(self, body: bytes) -> None:
        """Take a part of a body, and begin to count the bytes of framing anew."""
        self._overhead = 0
        HttpToolsProtocol.on_body(self, body)

    def on_message_complete(self) -> None:
        """Signal the end of the body, so that the application does not wait for more."""
        self.scope["ldprl.whole"] = True  # type: ignore[typeddict-unknown-key]
        super().on_message_complete()

    def on_response_complete(self) -> None:
        """Set the deadline for the next complete request."""
        waiting = REQUEST_SECONDS if self.pipeline else IDLE_SECONDS
        self._deadline = self._request_deadline = self.loop.time() + waiting
        # As uvicorn does, but for the timer that it sets: the sweep has the deadline.
        self.server_state.total_requests += 1
        if self.transport.is_closing():
            return
        self.flow.resume_reading()
        if self.pipeline:
            self._start_asgi_task(*self.pipeline.pop())

    def pause_writing(self) -> None:
        """Set the deadline by which the client must read, and count what it has not read."""
        super().pause_writing()
        self._deadline = min(self._request_deadline, self.loop.time() + WRITE_SECONDS)
        # Nothing more is written before the client has read.
        self.unread[self] = self.transport.get_write_buffer_size()
        self._hang_up_on_the_worst()

    def resume_writing(self) -> None:
        """Return to the deadline of the request."""
        super().resume_writing()
        self._deadline = self._request_deadline
        self.unread.pop(self, None)

    def _hang_up_on_the_worst(self) -> None:
        """While too many bytes are unread, hang up on the address that has most of them.

        Of its connections the one that began to wait first goes first.
        """
        total = sum(self.unread.values())
        if total <= self.limits.unsent_bytes:
            return
        by_address: Counter[str] = Counter()
        for one, size in self.unread.items():
            by_address[one._peer()] += size
        while total > self.limits.unsent_bytes:
            ((worst, _),) = by_address.most_common(1)
            first = next(one for one in self.unread if one._peer() == worst)
            size = self.unread.pop(first)
            total -= size
            by_address[worst] -= size
            first.transport.abort()

    def _peer(self) -> str:
        """Return what counts as the address at the other end, be it a user's or a proxy's."""
        return "" if self.client is None else address_key(self.client[0])

    def _sweep(self) -> None:
        """Abort connections whose deadline has passed, even with unsent bytes, and repeat."""
        now = self.loop.time()
        for one in list(self.connections):
            if isinstance(one, BoundedProtocol) and now > one._deadline:
                one.transport.abort()
        self.loop.call_later(_SWEEP_SECONDS, self._sweep)

    def _is_proxy(self, address: str) -> bool:
        try:
            peer = ip_address(address)
        except ValueError:
            return False
        return any(peer in network for network in self.proxies)


class _AfterReading:
    """An application that is called once the client has read the responses before.

    Otherwise a response would be made for a client that does not read, and wait uncounted.
    """

    def __init__(self, app: Any, flow: FlowControl) -> None:
        self._app = app
        self._flow = flow

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if self._flow.write_paused:
            await self._flow.drain()
        await self._app(scope, receive, OneWrite(send).send)
