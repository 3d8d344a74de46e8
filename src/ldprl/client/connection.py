"""One kept-alive connection to one host, with a limit on everything that comes back."""

from __future__ import annotations

import http.client
import json
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from ldprl.client.deadline import Deadline, TimedConnection, TimedTLSConnection
from ldprl.client.errors import UnexpectedResponseError
from ldprl.errors import InputError
from ldprl.protocol.sizes import LONGEST_BODY

_USUAL_PORTS = {"http": 80, "https": 443}
_KINDS = {"http": TimedConnection, "https": TimedTLSConnection}
# An idle connection that the other end has closed shows in one of these ways.
_STALE = (http.client.RemoteDisconnected, ConnectionResetError, BrokenPipeError)


@dataclass(frozen=True)
class Response:
    """A response: status, JSON (None if the body is not JSON), ``Retry-After``, and the body."""

    status: int
    document: Any
    retry_after: str | None
    body: bytes = b""


def normalized_url(url: str, field: str = "url") -> str:
    """Return a service's address in the one way of writing it, or refuse it."""
    expected = "https://host[:port][/prefix]"
    try:
        parts = urlsplit(url)
        port = parts.port
    except (ValueError, AttributeError):
        raise InputError(field, url, f"{expected}, with a port from 0 to 65535") from None
    if parts.scheme not in _KINDS or not parts.hostname or parts.query or parts.fragment:
        raise InputError(field, url, expected)
    if parts.username is not None or not url.isascii() or not url.isprintable() or " " in url:
        raise InputError(field, url, f"{expected}, in plain ASCII and without a user's name")
    host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
    place = host if port in (None, _USUAL_PORTS[parts.scheme]) else f"{host}:{port}"
    return f"{parts.scheme}://{place}{parts.path.rstrip('/')}"


def connection_to(url: str, timeout: float) -> tuple[TimedConnection, str]:
    """Return a connection to the host of a normalized address, and what its paths begin with.

    Its first exchange must end within ``timeout`` seconds from now.
    """
    parts = urlsplit(url)
    return _KINDS[parts.scheme](parts.hostname or "", parts.port, Deadline(timeout)), parts.path


def _parsed(content: bytes) -> Any:
    """Return the JSON document, or None if there is none; half a surrogate pair is no text."""
    try:
        document = json.loads(content)
        if b"\\ud" in content.lower():
            json.dumps(document, ensure_ascii=False).encode()
    except (ValueError, RecursionError):
        return None
    return document


class Connection:
    """Sends requests to one host, and to no other: redirections are not followed.

    Parameters
    ----------
    url
        Where the service is: ``https://host[:port][/prefix]``. Certificates are verified.
    timeout
        Seconds that one exchange may take, from connecting to the last byte of the response.
    """

    def __init__(self, url: str, timeout: float) -> None:
        self._http, self._prefix = connection_to(normalized_url(url), timeout)

    def request(self, method: str, path: str, body: bytes | None = None) -> Response:
        """Return the response; a connection that fails raises OSError or HTTPException."""
        self._http.deadline.renew()
        kept = self._http.sock is not None
        try:
            return self._exchange(method, path, body)
        except _STALE:
            self.close()
            if not kept:
                raise
            # Every request of the protocol may be repeated: reports are known by their id.
            return self._exchange(method, path, body)
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Close the connection; the next request opens another one."""
        self._http.close()

    def _exchange(self, method: str, path: str, body: bytes | None) -> Response:
        headers = {"Accept": "application/json"}
        if body is not None:
            headers["Content-Type"] = "application/json"
        self._http.request(method, self._prefix + path, body, headers)
        response = self._http.getresponse()
        content = self._read(response)
        document = _parsed(content)
        return Response(response.status, document, response.headers.get("Retry-After"), content)

    def _read(self, response: http.client.HTTPResponse) -> bytes:
        content = bytearray()
        while part := response.read1(2**16):
            content += part
            if len(content) > LONGEST_BODY:
                raise UnexpectedResponseError(f"a response of more than {LONGEST_BODY} bytes")
        if response.length:
            # read1 ends quietly where the other side dies in the middle of a body.
            raise http.client.IncompleteRead(bytes(content), response.length)
        # read1 does not notice the end by itself, and the connection waits for it.
        response.close()
        return bytes(content)
