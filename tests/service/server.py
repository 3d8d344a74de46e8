"""``ldprl serve`` in a process of its own, and a plain client to talk to it."""

from __future__ import annotations

import http.client
import json
import os
import re
import secrets
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import ldprl
from ldprl.assignment import Assignment
from ldprl.mechanisms.codec import ReportCodec, Subsets
from ldprl.policies.policy import MOST_POLICIES
from ldprl.protocol.deployment import Deployment
from ldprl.protocol.messages import Issued, report_document
from ldprl.service.tokens import token_hash

TOKEN = "a token for tests"
PROGRAM = ("-m", "ldprl")
_START_SECONDS = 180.0


@dataclass(frozen=True)
class Answer:
    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


class Client:
    """Speaks HTTP to one server, one request a connection."""

    def __init__(self, url: str) -> None:
        self.url = url

    def send(self, method: str, path: str, body: bytes | None = None, **headers: str) -> Answer:
        where = urlsplit(self.url)
        connection = http.client.HTTPConnection(where.hostname or "", where.port, timeout=120)
        try:
            connection.request(method, path, body, headers)
            answer = connection.getresponse()
            named = {name.lower(): value for name, value in answer.getheaders()}
            return Answer(answer.status, named, answer.read())
        finally:
            connection.close()

    def get(self, path: str, **headers: str) -> Answer:
        return self.send("GET", path, None, **headers)

    def post(self, path: str, content: object, **headers: str) -> Answer:
        return self.send("POST", path, json.dumps(content).encode(), **headers)

    def admin(self, method: str, path: str, content: object = None) -> Answer:
        return self.send(
            method, path, json.dumps(content).encode(), authorization=f"Bearer {TOKEN}"
        )

    def deployment(self) -> Deployment:
        return Deployment.from_document(self.get("/v1/deployment").json["deployment"])

    def report(self, report_id: str | None = None) -> dict[str, Any]:
        """Return a report that will be counted: the assignment is asked for, its values made up."""
        report_id = report_id or secrets.token_hex(16)
        deployment = self.deployment()
        number = secrets.randbelow(MOST_POLICIES)
        document = self.get(f"/v1/policy?id={report_id}&number={number}").json
        issued = Issued.from_document(document, deployment, number)
        allowed = codec_of(deployment, issued.assignment)
        return report_document(report_id, issued, some_values(allowed))

    def users(self) -> int:
        counted: int = self.get("/v1/status").json["users"]
        return counted


def codec_of(deployment: Deployment, assignment: Assignment) -> ReportCodec:
    return deployment.built.codec(assignment)


def some_values(allowed: ReportCodec) -> list[int]:
    """Return values that a report may hold."""
    if not isinstance(allowed, Subsets):
        return [0] * allowed.length
    values: list[int] = []
    start = 0
    for items, size in allowed.parts:
        values += range(start, start + size)
        start += items
    return values


class Server(Client):
    """A running server. ``url`` says where; ``errors()`` what it wrote."""

    def __init__(self, process: subprocess.Popen[bytes], log: Log, url: str) -> None:
        super().__init__(url)
        self.process = process
        self._log = log

    @classmethod
    def start(
        cls,
        *options: str,
        admin: bool = True,
        program: Sequence[str] = PROGRAM,
        meanwhile: Callable[[str], None] = lambda _: None,
    ) -> Server:
        """Start a server; ``meanwhile`` is called with what it has written until it serves."""
        unlimited = () if "--rate-limit" in options else ("--rate-limit", "0")
        variables = environment()
        if admin:
            variables["LDPRL_ADMIN_TOKEN_HASH"] = token_hash(TOKEN)
        log = Log()
        line = [sys.executable, *program, "serve", "--port", "0", *unlimited, *options]
        process = subprocess.Popen(line, stdout=log.file, stderr=log.file, env=variables)
        deadline = time.monotonic() + _START_SECONDS
        while time.monotonic() < deadline:
            meanwhile(log.text())
            if found := re.search(r"serving .* at (http://[^\s\"]+)\"?}?\n", log.text()):
                return cls(process, log, found[1]).ready()
            if process.poll() is not None:
                break
            time.sleep(0.05)
        process.kill()
        process.wait()
        log.close()
        raise RuntimeError(f"the server did not start: {log.text()}")

    def ready(self) -> Server:
        """Wait until the server answers."""
        assert self.get("/healthz").status == 200
        return self

    def errors(self) -> str:
        return self._log.text()

    def stop(self) -> int:
        """Stop politely (SIGTERM), and return the exit code."""
        self.process.send_signal(signal.SIGTERM)
        code = self.process.wait(120)
        self._log.close()
        return code

    def kill(self) -> None:
        """Stop at once (SIGKILL)."""
        self.process.kill()
        self.process.wait()
        self._log.close()


def environment() -> dict[str, str]:
    """Return the environment in which a process finds this package."""
    return os.environ | {"PYTHONPATH": str(Path(ldprl.__file__).parents[1])}


class Log:
    """What a process writes, in a file without a name until it is closed, then in memory."""

    def __init__(self) -> None:
        self.file = tempfile.TemporaryFile()  # noqa: SIM115 (open as long as the process)
        self._closed: str | None = None

    def text(self) -> str:
        if self._closed is not None:
            return self._closed
        # At a place given: the process writes at the place that the file has.
        return os.pread(self.file.fileno(), 2**24, 0).decode()

    def close(self) -> None:
        self._closed = self.text()
        self.file.close()


def refusal(*options: str) -> str:
    """Start ``ldprl serve``, which refuses to serve, and return the one line that it says."""
    line = [sys.executable, *PROGRAM, "serve", "--port", "0", *options]
    ended = subprocess.run(
        line, capture_output=True, text=True, env=environment(), timeout=300, check=False
    )
    assert ended.returncode == 2, ended.stderr
    assert ended.stdout == ""
    (said,) = ended.stderr.splitlines()
    return said
