"""A proxy from a page's snippet in front of a server that remembers what reaches it."""

from __future__ import annotations

import contextlib
import http.client
import shutil
import socket
import ssl
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from .test_pages import WRITTEN, blocks

NAME = "advice.example.org"
FROM = "127.0.0.53"
"""The address that requests come from: one that is nowhere else."""


def snippet(title: str) -> str:
    """Return the block of that title on the page about deploying."""
    (code,) = (b.code for b in blocks(WRITTEN["how-to/deploy.md"]) if b.title == title)
    return code


def program(name: str, package: str) -> str:
    found = shutil.which(name, path="/usr/sbin:/usr/bin:/sbin:/bin:/usr/local/bin")
    if found is None:
        pytest.skip(f"{name} is not installed (apt-get install {package})")
    return found


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port: int = taken.getsockname()[1]
        return port


def certificate(folder: Path) -> tuple[Path, Path]:
    """Make a certificate for the page's host, and return it with its key."""
    made, key = folder / "fullchain.pem", folder / "privkey.pem"
    openssl = program("openssl", "openssl")
    line = f"{openssl} req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN={NAME}"
    line += f" -addext subjectAltName=DNS:{NAME} -out {made} -keyout {key}"
    subprocess.run(line.split(), check=True, capture_output=True)
    return made, key


@dataclass
class Upstream:
    """What reached the service, path and headers."""

    port: int = 0
    stop: Callable[[], None] = lambda: None
    paths: list[str] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)


@contextlib.contextmanager
def upstream() -> Iterator[Upstream]:
    """Stand in for the service."""
    seen = Upstream()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            self.rfile.read(int(self.headers.get("Content-Length", 0)))
            seen.paths.append(self.path)
            seen.headers.append({name.lower(): value for name, value in self.headers.items()})
            self.send_response(200)
            self.send_header("Content-Length", "2")
            self.send_header("Connection", "close")
            self.end_headers()
            self.wfile.write(b"ok")

        do_POST = do_GET  # noqa: N815

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    seen.port = server.server_port
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()

    def stop() -> None:
        server.shutdown()
        thread.join()
        server.server_close()

    seen.stop = stop
    try:
        yield seen
    finally:
        stop()


@dataclass(frozen=True)
class Proxy:
    """A proxy that listens on ``port`` with ``certificate``, and writes below ``folder``."""

    port: int
    certificate: Path
    folder: Path

    def ask(
        self,
        path: str,
        method: str = "GET",
        body: bytes | None = None,
        headers: dict[str, str] | None = None,
    ) -> http.client.HTTPResponse:
        """Return the answer to one request over TLS, with the certificate verified."""
        trusted = ssl.create_default_context(cafile=str(self.certificate))
        plain = socket.create_connection(("127.0.0.1", self.port), 20, (FROM, 0))
        connection = http.client.HTTPConnection(NAME, timeout=60)
        connection.sock = trusted.wrap_socket(plain, server_hostname=NAME)
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            connection.request(method, path, body, headers or {})
        answer = connection.getresponse()
        answer.read()
        connection.close()
        return answer


@contextlib.contextmanager
def running(line: list[str], proxy: Proxy, **variables: str) -> Iterator[Proxy]:
    """Run the proxy's program until the block ends."""
    with (proxy.folder / "output").open("wb") as output:
        process = subprocess.Popen(
            line, stdout=output, stderr=output, cwd=proxy.folder, env=variables or None
        )
        try:
            deadline = time.monotonic() + 120
            while time.monotonic() < deadline and process.poll() is None:
                with contextlib.suppress(OSError):
                    socket.create_connection(("127.0.0.1", proxy.port), 1).close()
                    break
                time.sleep(0.05)
            assert process.poll() is None, (proxy.folder / "output").read_text()
            yield proxy
        finally:
            process.terminate()
            process.wait(120)
