"""A service that answers as it is told, and remembers what it was asked and sent."""

from __future__ import annotations

import json
import threading
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Protocol, TypeVar
from urllib.parse import parse_qs, urlsplit

from ldprl.protocol.deployment import digest_of

Reply = tuple[int, dict[str, str], bytes] | None
"""Status, headers and body; None hangs up."""


def ok(document: object) -> Reply:
    """Return a document as a service does."""
    return 200, {}, json.dumps(document).encode()


def refusal(status: int, cause: str, retry_after: str | None = None) -> Reply:
    """Return why a request is turned away."""
    headers = {} if retry_after is None else {"Retry-After": retry_after}
    return status, headers, json.dumps({"cause": cause, "detail": f"so {cause}"}).encode()


class Answers(Protocol):
    """What :func:`running` serves."""

    url: str
    connections: int

    def answer(self, method: str, path: str, body: bytes) -> Reply:
        """Return what is replied to a request."""


AnyAnswers = TypeVar("AnyAnswers", bound=Answers)


@dataclass
class Scripted:
    """One deployment, one assignment or plan.

    Attributes
    ----------
    document
        The deployment's document, good or not.
    assigned
        Returns the assignment of a user who drew this number; or the plan of a relay, for None.
    instead
        What POSTs are answered with first; ``then_lost`` of the next ones are counted and
        hung up on.
    before
        Called with the path of each request before it is answered.
    """

    document: Mapping[str, Any]
    assigned: Callable[[int | None], object]
    instead: deque[Reply] = field(default_factory=deque)
    then_lost: int = 0
    before: Callable[[str], object] = str
    url: str = ""
    connections: int = 0
    numbers: list[int] = field(default_factory=list)
    bodies: list[bytes] = field(default_factory=list)
    counted: set[str] = field(default_factory=set)

    @property
    def digest(self) -> str:
        """The digest of the document, which a client is told to trust."""
        return digest_of(self.document)

    def answer(self, method: str, path: str, body: bytes) -> Reply:
        """Return what a service would, but for ``instead`` and ``then_lost``."""
        parts = urlsplit(path)
        if method == "POST":
            self.bodies.append(body)
        self.before(parts.path)
        if parts.path == "/v1/deployment":
            return ok({"digest": self.digest, "deployment": self.document})
        if parts.path == "/v1/policy":
            return ok(self.assigned(self._number(parts.query)))
        if (method, parts.path) != ("POST", "/v1/reports"):
            return refusal(404, "not-found")
        if self.instead:
            return self.instead.popleft()
        reply = self._count(body)
        if self.then_lost:
            self.then_lost -= 1
            return None
        return reply

    def _number(self, query: str) -> int | None:
        if not query:
            return None
        number = int(parse_qs(query)["number"][0])
        self.numbers.append(number)
        return number

    def _count(self, body: bytes) -> Reply:
        report = json.loads(body)
        if "sealed" in report:
            return ok({"status": "accepted"})
        status = "duplicate" if report["id"] in self.counted else "counted"
        self.counted.add(report["id"])
        return ok({"id": report["id"], "status": status})


class _QuietServer(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, *_: object) -> None:
        """Clients may hang up."""


@contextmanager
def running(service: AnyAnswers) -> Iterator[AnyAnswers]:
    """Yield ``service`` while it is at ``service.url``, a free port of this machine."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True

        def setup(self) -> None:
            service.connections += 1
            super().setup()

        def do_GET(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            reply = service.answer(self.command, self.path, body)
            if reply is None:
                self.close_connection = True
                return
            status, headers, content = reply
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        do_POST = do_GET  # noqa: N815

        def log_message(self, *_: object) -> None:
            pass

    server = _QuietServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    service.url = f"http://127.0.0.1:{server.server_port}"
    try:
        yield service
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
