"""A service as a client sees it: one deployment, one assignment, reports checked and kept."""

from __future__ import annotations

import functools
import json
import threading
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import numpy as np

from ldprl import Shape
from ldprl.assignment import Assignment
from ldprl.mechanisms.questions.question import Question
from ldprl.mechanisms.questions.transition import Transition
from ldprl.protocol.deployment import Deployment
from ldprl.protocol.messages import Issued

DEPLOYMENT = Deployment("stub", Shape(3, 2, 4), "2", options={"layout": "separate"})


class StubService:
    """Runs while it is entered; ``reports`` are the bodies that were counted, in order."""

    def __init__(self, files: Path) -> None:
        self.deployment = DEPLOYMENT
        policy = np.ones((4, 3), dtype=np.int64)
        self.assignment = Assignment(policy, 1.0, (Question(Transition(), 1, np.ones(3)),))
        self.reports: list[dict[str, Any]] = []
        self.failures: list[int] = []
        handler = functools.partial(_Handler, self, str(files))
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self._thread = threading.Thread(target=self._server.serve_forever)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_port}"

    def __enter__(self) -> StubService:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    def issued(self) -> dict[str, Any]:
        return Issued(self.deployment.digest, 3, 0, self.assignment).document(self.deployment.built)

    def count(self, report: dict[str, Any]) -> dict[str, Any]:
        """Check a report as the real service does; what is wrong raises."""
        self.deployment.built.codec(self.assignment).read(report["values"])
        known = report["id"] in {earlier["id"] for earlier in self.reports}
        self.reports.append(report)
        return {"id": report["id"], "status": "duplicate" if known else "counted"}


class _Handler(SimpleHTTPRequestHandler):
    def __init__(self, service: StubService, files: str, *connection: Any) -> None:
        self.service = service
        super().__init__(*connection, directory=files)

    def do_GET(self) -> None:
        deployment = self.service.deployment
        if self.path == "/":
            self._answer(200, b"<!doctype html><title>empty</title>", "text/html")
        elif self.path == "/v1/deployment":
            self._json({"digest": deployment.digest, "deployment": deployment.document})
        elif self.path.startswith("/v1/policy?id="):
            self._json(self.service.issued())
        else:
            super().do_GET()

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["content-length"]))
        if self.service.failures:
            self._answer(self.service.failures.pop(0), b'{"cause": "overloaded"}')
        else:
            self._json(self.service.count(json.loads(body)))

    def _json(self, value: object) -> None:
        self._answer(200, json.dumps(value).encode())

    def _answer(self, status: int, body: bytes, kind: str = "application/json") -> None:
        self.send_response(status)
        self.send_header("content-type", f"{kind}; charset=utf-8")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        """Keep the tests' output clean."""
