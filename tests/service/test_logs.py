"""Log lines carry their time, and nothing about a user, whatever was sent and whatever failed."""

from __future__ import annotations

import asyncio
import io
import json
import logging
import re
import socket
import sys
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from ldprl import InputError
from ldprl.service.logs import JsonLines, TextLines, configure_logs

from .conftest import DEPLOYMENT, StartServer
from .server import Server

SECRET = "5ec2e7f00d5ec2e7f00d5ec2e7f00d00"
ADDRESS = "127.0.0.53"
VALUE = 987654321


@pytest.fixture
def lines(monkeypatch: pytest.MonkeyPatch) -> Iterator[io.StringIO]:
    """What this process logs, as JSON, while the test runs."""
    root, kept = logging.getLogger(), logging.getLogger().handlers[:]
    written = io.StringIO()
    monkeypatch.setattr(sys, "stderr", written)
    configure_logs("json")
    yield written
    logging.captureWarnings(False)
    root.handlers[:] = kept


def raw(server: Server, line: str, *headers: str, body: bytes = b"") -> bytes:
    """Send a request from an address of our own, and return the answer."""
    where = urlsplit(server.url)
    length = f"Content-Length: {len(body)}"
    head = "\r\n".join([line, "Host: x", "Connection: close", length, *headers, "", ""])
    with socket.socket() as client:
        client.settimeout(10)
        client.bind((ADDRESS, 0))
        client.connect((where.hostname, where.port))
        client.sendall(head.encode() + body)
        return b"".join(iter(lambda: client.recv(2**16), b""))


def post(server: Server, content: object) -> bytes:
    return raw(server, "POST /v1/reports HTTP/1.1", body=json.dumps(content).encode())


@pytest.mark.parametrize("log", ["json", "text"])
def test_no_id_address_or_value_is_logged(
    start_server: StartServer, tmp_path: Path, log: str
) -> None:
    database = f"sqlite:///{tmp_path}/{log}.sqlite"
    server = start_server(DEPLOYMENT, database, "--log", log, "--access-log")
    report = server.report(SECRET)
    assert b'"counted"' in post(server, report)
    assert b'"duplicate"' in post(server, report)
    assert b"wrong-alphabet" in post(server, report | {"values": [VALUE] * len(report["values"])})
    assert b"malformed" in post(server, report | {SECRET: VALUE})
    assert b"not-found" in raw(server, f"GET /{SECRET} HTTP/1.1")
    asked = f"GET /v1/policy?id={SECRET} HTTP/1.1"
    assert b'"policy"' in raw(server, asked, f"User-Agent: {SECRET}")
    assert b"400 Bad Request" in raw(server, f"NO HTTP {SECRET}")
    server.stop()
    text = server.errors()
    assert "/v1/reports" in text, "requests are logged: there was something to leak into"
    for hidden in (SECRET, ADDRESS, str(VALUE), str(report["values"]).strip("[]")):
        assert hidden not in text
    for line in text.splitlines():
        assert re.match(r'(\{"time": ")?\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z', line), line


def test_each_line_is_an_object_with_its_time(lines: io.StringIO) -> None:
    logging.getLogger("ldprl.service").info(
        "%d of %s", 2, "these", extra={"fields": {"seconds": 1}}
    )
    (line,) = map(json.loads, lines.getvalue().splitlines())
    age = datetime.now(UTC) - datetime.fromisoformat(line.pop("time"))
    assert timedelta(0) <= age < timedelta(minutes=1)
    assert line == {
        "level": "info",
        "logger": "ldprl.service",
        "message": "2 of these",
        "seconds": 1,
    }


def leak_everything() -> None:
    """Log a user's data as other libraries would."""
    try:
        raise ValueError(SECRET)
    except ValueError:
        logging.getLogger("uvicorn.error").exception("Exception in ASGI application\n")
        logging.getLogger("ldprl.service").exception("no plan now")
    logging.getLogger("uvicorn.error").warning("from %s: %s", ADDRESS, SECRET)

    async def lose() -> None:
        async def fail() -> None:
            raise ValueError(SECRET)

        task = asyncio.create_task(fail(), name=SECRET)
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        del task

    asyncio.run(lose())


def test_errors_are_told_by_kind_and_place_only(lines: io.StringIO) -> None:
    leak_everything()
    entries = [json.loads(line) for line in lines.getvalue().splitlines()]
    assert [one["message"] for one in entries] == [
        "Exception in ASGI application",
        "no plan now",
        "from %s: %s",
        "Task exception was never retrieved",
    ]
    assert entries[0]["error"] == entries[1]["error"] == "ValueError"
    assert "leak_everything" in "".join(entries[1]["at"])
    assert SECRET not in lines.getvalue().replace("raise ValueError(SECRET)", "")
    assert ADDRESS not in lines.getvalue()


@pytest.mark.parametrize("kind", [JsonLines, TextLines])
def test_a_plain_formatter_would_leak(kind: type[logging.Formatter], lines: io.StringIO) -> None:
    """The mutant: with the standard formatter, the same calls show what must not be seen."""
    logging.getLogger().handlers[0].setFormatter(kind())
    leak_everything()
    assert SECRET not in lines.getvalue()
    logging.getLogger().handlers[0].setFormatter(logging.Formatter())
    leak_everything()
    assert SECRET in lines.getvalue()


def test_an_unknown_format_is_refused() -> None:
    with pytest.raises(InputError, match=r"log = 'jsn'.*did you mean 'json'"):
        configure_logs("jsn")
