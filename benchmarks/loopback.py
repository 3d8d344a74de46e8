"""A client that is faster than the server: bodies made beforehand, many connections kept alive.

``python -m benchmarks.loopback URL DATABASE CONNECTIONS REQUESTS BATCH`` posts them all, or asks
for as many policies where BATCH is 0. It prints, as JSON, how long that took, how many reports were
counted, and the median and the slowest 1% of the answers.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import secrets
import sqlite3
import sys
import time
import urllib.request
from collections.abc import Iterator
from dataclasses import fields
from typing import Any, cast
from urllib.parse import urlsplit

import numpy as np
import psycopg
import uvloop

from ldprl.mechanisms.codec import Subsets
from ldprl.policies.policy import MOST_POLICIES
from ldprl.protocol.deployment import Deployment
from ldprl.service.database import path_of
from ldprl.service.database.protocol import StoredPlan
from ldprl.service.plans import PublishedPlan, published_plan

_NEWEST = "SELECT {} FROM plans ORDER BY version DESC LIMIT 1".format(
    ", ".join(field.name for field in fields(StoredPlan))
)


def reports(url: str, database: str) -> Iterator[str]:
    """Yield reports that will be counted; the database knows which assignment an id gets."""
    with urllib.request.urlopen(f"{url}/v1/deployment", timeout=10) as answer:
        deployment = Deployment.from_document(json.load(answer)["deployment"])
    path = path_of(database)
    reader: Any = psycopg.connect(database) if path is None else sqlite3.connect(path)
    with contextlib.closing(reader):
        (secret,) = reader.execute("SELECT secret FROM meta").fetchone()
        newest = reader.execute(_NEWEST).fetchone()
    plan: PublishedPlan = published_plan(StoredPlan(*newest), deployment)
    while True:
        name = secrets.token_hex(16)
        index = plan.drawn(name, secret)
        number = secrets.randbelow(MOST_POLICIES)
        codec = plan.codecs[index]
        # A subset report names the first items; any number of items will do as well.
        values = list(range(sum(w for _, w in codec.parts))) if isinstance(codec, Subsets) else [0]
        report = {
            "id": name,
            "deployment": deployment.digest,
            "version": plan.version,
            "assignment": index,
            "values": values,
        }
        yield json.dumps(report | ({"number": number} if plan.plan[index].numbered else {}))


def requests(url: str, database: str, count: int, batch: int) -> list[bytes]:
    """Return whole requests: single reports, or lists of ``batch`` of them; 0 asks for policies."""
    if batch == 0:
        where = f"HTTP/1.1\r\nhost: {urlsplit(url).netloc}\r\n\r\n"
        asked = (
            f"id={secrets.token_hex(16)}&number={secrets.randbelow(MOST_POLICIES)}"
            for _ in range(count)
        )
        return [f"GET /v1/policy?{one} {where}".encode() for one in asked]
    source = reports(url, database)
    bodies = [[next(source) for _ in range(batch)] for _ in range(count)]
    texts = [body[0] if batch == 1 else f"[{','.join(body)}]" for body in bodies]
    head = f"POST /v1/reports HTTP/1.1\r\nhost: {urlsplit(url).netloc}\r\ncontent-length: "
    return [f"{head}{len(text)}\r\n\r\n{text}".encode() for text in texts]


class Connection(asyncio.Protocol):
    """Sends the next request when the last is answered, until none is left."""

    def __init__(self, waiting: list[bytes], seconds: list[float], counted: list[int]) -> None:
        self._waiting, self._seconds, self._counted = waiting, seconds, counted
        self._heard = b""
        self._began = 0.0
        self.done: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Wait until all connections are there."""
        self._transport = cast(asyncio.Transport, transport)

    def data_received(self, data: bytes) -> None:
        """Take what came; an answer that is complete is noted."""
        self._heard += data
        head, end, body = self._heard.partition(b"\r\n\r\n")
        if not end or len(body) < _length(head):
            return
        self._seconds.append(time.perf_counter() - self._began)
        said = (b'"counted"', b'"accepted"', b'"policy"')
        self._counted.append(sum(map(body.count, said)))
        self._heard = b""
        self.next()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop: the server must not close a connection that is in use."""
        if not self.done.done():
            self.done.set_exception(exc or ConnectionResetError("the server hung up"))

    def next(self) -> None:
        """Send a request, or stop."""
        if self._waiting:
            self._began = time.perf_counter()
            self._transport.write(self._waiting.pop())
        elif not self.done.done():
            self.done.set_result(None)
            self._transport.close()


def _length(head: bytes) -> int:
    return int(head.lower().partition(b"content-length: ")[2].partition(b"\r\n")[0])


async def post(url: str, connections: int, waiting: list[bytes]) -> dict[str, float]:
    """Send everything, and return the measurements."""
    where, seconds, counted = urlsplit(url), list[float](), list[int]()
    loop = asyncio.get_running_loop()
    made = [
        await loop.create_connection(
            lambda: Connection(waiting, seconds, counted), where.hostname or "", where.port or 80
        )
        for _ in range(connections)
    ]
    began = time.perf_counter()
    for _, connection in made:
        connection.next()
    await asyncio.gather(*(connection.done for _, connection in made))
    took = time.perf_counter() - began
    p50, p99 = np.percentile(seconds, [50, 99]).tolist()
    return {"took": took, "counted": sum(counted), "p50": p50, "p99": p99}


if __name__ == "__main__":
    url, database, connections, count, batch = sys.argv[1:]
    prepared = requests(url, database, int(count), int(batch))
    print(json.dumps(uvloop.run(post(url, int(connections), prepared))))
