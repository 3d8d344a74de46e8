"""HTTP connections on which everything together, not each wait, must end in time.

A socket's own timeout bounds one wait for bytes. A server that sends a byte now and then, in
headers, chunk sizes or ``100 Continue``, keeps each wait short and the whole without an end.
"""

from __future__ import annotations

import http.client
import io
import socket
import time
from typing import Any, cast


class Deadline:
    """The end of an exchange: so many seconds after it was made, or renewed."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self.renew()

    def renew(self) -> None:
        """Begin another exchange."""
        self._end = time.monotonic() + self.seconds

    def left(self) -> float:
        """Return how many seconds are left, or raise TimeoutError."""
        left = self._end - time.monotonic()
        if left <= 0:
            raise TimeoutError(f"no complete response within {self.seconds:g} s")
        return left


class TimedConnection(http.client.HTTPConnection):
    """Connects, sends and receives before ``deadline``, and not a moment longer."""

    def __init__(self, host: str, port: int | None, deadline: Deadline) -> None:
        super().__init__(host, port)
        self.deadline = deadline
        # What http.client opens its socket with.
        cast(Any, self)._create_connection = self._opened

    def connect(self) -> None:
        """Connect, with TLS if the class has it; then bound what the socket does."""
        super().connect()
        self.sock = cast(Any, _TimedSocket(self.sock, self.deadline))

    def _opened(self, address: tuple[str, int], *_: object) -> socket.socket:
        """Return a socket to the first address that accepts; all share what time there is."""
        failure = OSError(f"no address of {address[0]}")
        for *_rest, place in socket.getaddrinfo(*address, type=socket.SOCK_STREAM):
            host, port = str(place[0]), int(place[1])
            try:
                opened = socket.create_connection((host, port), self.deadline.left())
            except OSError as error:
                failure = error
                continue
            # The TLS handshake, if there is one, has what is left.
            opened.settimeout(self.deadline.left())
            return opened
        raise failure


class TimedTLSConnection(TimedConnection, http.client.HTTPSConnection):
    """The same over TLS: certificate and host name are checked by default."""


class _TimedSocket:
    """What http.client uses of a socket, each wait no longer than what is left."""

    def __init__(self, sock: socket.socket, deadline: Deadline) -> None:
        self._sock = sock
        self._deadline = deadline

    def sendall(self, data: bytes) -> None:
        """Send all bytes; TLS would allow the full time for each part."""
        rest = memoryview(data)
        while rest:
            self._sock.settimeout(self._deadline.left())
            rest = rest[self._sock.send(rest) :]

    def makefile(self, mode: str) -> io.BufferedReader:
        """Return what responses are read from."""
        return io.BufferedReader(_TimedReader(self._sock, self._deadline))

    def close(self) -> None:
        """Close the socket, once the response that is being read has ended."""
        self._sock.close()


class _TimedReader(io.RawIOBase):
    def __init__(self, sock: socket.socket, deadline: Deadline) -> None:
        self._sock = sock
        self._deadline = deadline
        self._raw = sock.makefile("rb", buffering=0)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int | None:
        left = self._deadline.left()
        # A response may outlive the connection's own use of the socket.
        self._sock.settimeout(left)
        return self._raw.readinto(buffer)

    def close(self) -> None:
        self._raw.close()
        super().close()
