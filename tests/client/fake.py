"""A service of a few lines: it hands out one plan, counts ids, and misbehaves on request."""

from __future__ import annotations

import json
import threading
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

import numpy as np

from ldprl.assignment import Assignment
from ldprl.protocol.deployment import Deployment
from ldprl.protocol.messages import Issued

Reply = tuple[int, dict[str, str], bytes] | None


@dataclass
class FakeService:
    """What was requested and reported, and what to reply instead of the truth.

    ``instead`` holds replies (status, headers, body) to come first; None hangs up without one.
    ``lost`` answers are hung up on after the report is counted.
    """

    deployment: Deployment
    url: str = ""
    instead: deque[Reply] = field(default_factory=deque)
    lost: int = 0
    version: int = 1
    paused: bool = False
    connections: int = 0
    asked: list[str] = field(default_factory=list)
    bodies: list[bytes] = field(default_factory=list)
    counted: dict[str, list[int]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        shape = self.deployment.shape
        policy = np.arange(shape.horizon * shape.states).reshape(shape.horizon, shape.states)
        self.plan = self.deployment.built.ask((Assignment(policy % shape.actions),))

    def issued(self, report_id: str) -> Issued:
        index = int(report_id, 16) % len(self.plan)
        return Issued(self.deployment.digest, self.version, index, self.plan[index])

    def answer(self, method: str, path: str, body: bytes) -> Reply:
        if method == "POST":
            self.bodies.append(body)
        if self.instead:
            return self.instead.popleft()
        parts = urlsplit(path)
        if parts.path == "/v1/deployment":
            document = self.deployment.document
            return ok({"digest": self.deployment.digest, "deployment": document})
        if parts.path == "/v1/status":
            return ok({"paused": self.paused})
        if parts.path == "/v1/policy":
            (report_id,) = parse_qs(parts.query)["id"]
            self.asked.append(report_id)
            return ok(self.issued(report_id).document(self.deployment.built))
        assert (method, parts.path) == ("POST", "/v1/reports")
        reply = self.count(json.loads(body))
        if self.lost:
            self.lost -= 1
            return None
        return reply

    def count(self, report: dict[str, Any]) -> Reply:
        issued = self.issued(report["id"])
        named = [report[key] for key in ("deployment", "version", "assignment")]
        assert named == [issued.deployment, issued.version, issued.index]
        self.deployment.built.codec(issued.assignment).read(report["values"])
        known = report["id"] in self.counted
        self.counted[report["id"]] = report["values"]
        return ok({"id": report["id"], "status": "duplicate" if known else "counted"})


def ok(document: object) -> Reply:
    return 200, {}, json.dumps(document).encode()


def refusal(status: int, cause: str, retry_after: str | None = None) -> Reply:
    headers = {} if retry_after is None else {"Retry-After": retry_after}
    return status, headers, json.dumps({"cause": cause, "detail": f"so {cause}"}).encode()


class QuietServer(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, *_: object) -> None:
        """Clients may hang up."""


@contextmanager
def running(service: FakeService) -> Iterator[FakeService]:
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

    server = QuietServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    service.url = f"http://127.0.0.1:{server.server_port}"
    try:
        yield service
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
