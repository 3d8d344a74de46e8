"""What one client, and all together, may ask of the server at once."""

from __future__ import annotations

import asyncio
import contextlib
import math
import time
from collections import Counter, OrderedDict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from ipaddress import IPv6Address

from starlette.requests import ClientDisconnect
from starlette.types import Receive, Scope

from ldprl.service.causes import DelayedError, RejectionError

_ADDRESSES = 65_536
"""Addresses whose request rates are remembered, the latest ones."""
_PATIENCE = 4
"""A body that is too large is read up to this many times the limit."""
_NO_LIMIT = contextlib.nullcontext()


@dataclass(frozen=True)
class Limits:
    """Bounds on requests."""

    body_bytes: int = 4 * 2**20
    """Largest body."""
    body_seconds: float = 10.0
    """Longest time that a body may take to arrive."""
    held_bytes: int = 64 * 2**20
    """Most bytes of bodies that are held at one time."""
    unsent_bytes: int = 64 * 2**20
    """Most bytes of responses that clients have not read, at one time."""
    requests: int = 2000
    """Most requests that are worked on at one time."""
    rate: int = 1000
    """Requests a second from one address, over any two seconds; 0 for no limit."""
    per_address: int = 200
    """Most connections, and most requests at one time, from one address; 0 for no limit."""
    connections: int = 10_000
    """Most connections at one time."""


def address_key(address: str) -> str:
    """Return what counts as one address: of IPv6 the first 64 bits, which a single user has."""
    if ":" not in address:
        return address
    try:
        full = IPv6Address(address)
    except ValueError:
        return address
    return str(full.ipv4_mapped or IPv6Address(int(full) >> 64 << 64))


def address_of(scope: Scope) -> str:
    """Return what counts as the address of a request; empty where there is none."""
    client = scope.get("client")
    return "" if client is None else address_key(client[0])


class Slots:
    """Places for requests that are worked on; entered once for each."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._taken = 0

    def __enter__(self) -> None:
        if self._taken >= self._most:
            raise DelayedError("overloaded", f"{self._taken} requests at once")
        self._taken += 1

    def __exit__(self, *_: object) -> None:
        self._taken -= 1

    @contextlib.contextmanager
    def several(self, places: int) -> Iterator[None]:
        """Take several places; one who needs more than there are gets them when nobody has any."""
        if self._taken and self._taken + places > self._most:
            raise DelayedError("overloaded", f"{self._taken} places of {self._most} are taken")
        self._taken += places
        try:
            yield
        finally:
            self._taken -= places


class Gate:
    """Rate-limits by address. Addresses stay in memory, and few of them."""

    def __init__(self, limits: Limits, clock: Callable[[], float] = time.monotonic) -> None:
        self.limits = limits
        self._clock = clock
        self._slots = Slots(limits.requests)
        self._bytes = 0
        self._buckets: OrderedDict[str, tuple[float, float]] = OrderedDict()
        self._by_address: Counter[str] = Counter()

    def enter(self, scope: Scope) -> contextlib.AbstractContextManager[None]:
        """Let one request of an address in, or turn it away."""
        client = scope.get("client")
        if client is None or not (self.limits.rate or self.limits.per_address):
            return _NO_LIMIT
        return self._entered(address_key(client[0]))

    @contextlib.contextmanager
    def _entered(self, address: str) -> Iterator[None]:
        if self.limits.rate:
            self._spend(address)
        most = self.limits.per_address
        if most and self._by_address[address] >= most:
            raise DelayedError("rate-limited", f"at most {most} requests at once")
        self._by_address[address] += 1
        try:
            yield
        finally:
            self._by_address[address] -= 1
            if not self._by_address[address]:
                del self._by_address[address]

    def work(self) -> Slots:
        """Hold a place for a request that has arrived whole: slow bodies keep nobody out."""
        return self._slots

    async def read(self, scope: Scope, receive: Receive) -> bytearray:
        """Return the body, of bounded size and in bounded time; hold its bytes till released."""
        for name, value in scope["headers"]:
            if name == b"content-length":
                self._check_patience(int(value))
        heard = held = 0
        # A timer for each request costs more than to read a body that is there already.
        whole = scope.get("ldprl.whole", False)
        patience = _NO_LIMIT if whole else asyncio.timeout(self.limits.body_seconds)
        # One growing buffer: a list would hold an object for each byte that came alone.
        content = bytearray()
        try:
            async with patience:
                more = True
                while more:
                    message = await receive()
                    if message["type"] == "http.disconnect":
                        raise ClientDisconnect
                    chunk = message.get("body", b"")
                    more = message.get("more_body", False)
                    heard += len(chunk)
                    if heard > self.limits.body_bytes:
                        self._check_patience(heard)
                        continue
                    held += len(chunk)
                    self._bytes += len(chunk)
                    if self._bytes > self.limits.held_bytes:
                        raise DelayedError("overloaded", "too many bytes at once")
                    content += chunk
            if heard > self.limits.body_bytes:
                raise self._too_large()
        except BaseException as error:
            self.release(held)
            if isinstance(error, TimeoutError):
                slow = f"the body took more than {self.limits.body_seconds:g} s"
                raise DelayedError("rate-limited", slow) from None
            raise
        return content

    def release(self, held: int) -> None:
        """Release bytes that :meth:`read` holds."""
        self._bytes -= held

    def _check_patience(self, size: int) -> None:
        """Read a body that is too large, as a client reads no response before it has sent all."""
        if size > _PATIENCE * self.limits.body_bytes:
            raise self._too_large()

    def _too_large(self) -> RejectionError:
        return RejectionError("too-large", f"expected at most {self.limits.body_bytes} bytes")

    def _spend(self, address: str) -> None:
        """Take a token from the address's bucket, which holds two seconds' worth."""
        rate, now = self.limits.rate, self._clock()
        tokens, then = self._buckets.pop(address, (2.0 * rate, now))
        tokens = min(2.0 * rate, tokens + (now - then) * rate)
        enough = tokens >= 1
        self._buckets[address] = (tokens - 1 if enough else tokens, now)
        if len(self._buckets) > _ADDRESSES:
            self._buckets.popitem(last=False)
        if not enough:
            wait = math.ceil((1 - tokens) / rate)
            raise DelayedError("rate-limited", f"at most {rate} requests a second", wait)
