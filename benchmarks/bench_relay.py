"""A relay on loopback: sealing, reports left with it, and a crowd handed over to a real service."""

from __future__ import annotations

import contextlib
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from benchmarks.row import Row
from ldprl.mechanisms.sampling import SystemSource
from ldprl.protocol.deployment import Deployment
from ldprl.protocol.messages import report_bytes_of
from ldprl.protocol.plan import draw
from ldprl.protocol.public_plan import plan_bytes, plan_digest
from ldprl.protocol.sealing import new_private_key, opener, seal
from ldprl.relay.upstream import Upstream
from ldprl.service.tokens import token_hash

ROUNDS = 7
CONNECTIONS, REQUESTS = 256, 4000
CROWD = 100_000
TOKEN = "benchmark"
DEPLOYMENT = """
name = "benchmark"
states = 4
actions = 3
horizon = 4
epsilon = "3"
epochs = "every:1000000000"
[shuffle]
crowd = {crowd}
central_epsilon = "3"
delta = "1e-8"
key = "{key}"
"""


@contextlib.contextmanager
def running(module: str, *options: str, folder: Path, says: str) -> Iterator[str]:
    """Start ``python -m module``, wait for its address, and stop it."""
    log = folder / f"{module}-{options[0]}.log"
    line = [sys.executable, "-m", module, *options, "--port", "0", "--rate-limit", "0"]
    environment = os.environ | {"LDPRL_RELAY_TOKEN": TOKEN}
    with log.open("w", encoding="utf-8") as written:
        process = subprocess.Popen(line, stderr=written, env=environment)
    try:
        deadline = time.monotonic() + 60
        while not (found := re.search(rf"{says} .* at (http://\S+)", log.read_text())):
            if time.monotonic() > deadline or process.poll() is not None:
                raise RuntimeError(log.read_text())
            time.sleep(0.05)
        yield found[1]
    finally:
        process.kill()
        process.wait()


def serve(folder: Path, crowd: int, private: str) -> contextlib.AbstractContextManager[str]:
    """Start a service behind a relay."""
    file, key = folder / f"{crowd}.toml", folder / "key"
    file.write_text(DEPLOYMENT.format(crowd=crowd, key=opener(private).key), encoding="utf-8")
    key.write_text(private)
    options = ["--deployment", str(file), "--database", f"sqlite:///{folder}/{crowd}.sqlite"]
    options += ["--private-key", str(key), "--relay-token-hash", token_hash(TOKEN)]
    return running("ldprl", "serve", *options, folder=folder, says="serving")


def load(url: str) -> float:
    """Return µs a report."""
    line = [sys.executable, "-m", "benchmarks.sealed", url, str(CONNECTIONS), str(REQUESTS)]
    done = subprocess.run(line, capture_output=True, text=True, timeout=120, check=True)
    measured = json.loads(done.stdout)
    assert measured["counted"] == REQUESTS
    return 1e6 * float(measured["took"]) / REQUESTS


def left_with_relays(folder: Path, private: str) -> tuple[float, float]:
    """Return µs a report with and without the commit, of the round with the median ratio."""
    rounds = []
    with contextlib.ExitStack() as stack:
        service = stack.enter_context(serve(folder, 10**6, private))
        urls = []
        for module in ("ldprl", "benchmarks.uncommitted"):
            database = str(folder / f"{module}-relay.sqlite")
            options = ["relay", "--service", service, "--database", database]
            urls.append(
                stack.enter_context(running(module, *options, folder=folder, says="relaying"))
            )
        time.sleep(2)
        for url in urls:
            load(url)
        for _ in range(ROUNDS):
            rounds.append((load(urls[0]), load(urls[1])))
    return sorted(rounds, key=lambda pair: pair[0] / pair[1])[ROUNDS // 2]


def handed_over(folder: Path, private: str) -> tuple[float, float]:
    """Return seconds for a crowd to be opened, checked and counted, and to seal one report."""
    with serve(folder, CROWD, private) as url:
        upstream = Upstream(url, TOKEN)
        found = Deployment.from_document(upstream.deployment())
        assert found.shuffle is not None
        plan = upstream.plan()
        issued, size = draw(plan, found, SystemSource())
        values = found.built.codec(issued.assignment).longest()
        started = time.perf_counter()
        sealed = [
            seal(
                report_bytes_of(f"{i:032x}", issued, values),
                size,
                found.shuffle.key,
                found.digest,
                1,
                plan_digest(plan_bytes(plan)),
            )
            for i in range(CROWD)
        ]
        each = (time.perf_counter() - started) / CROWD
        started = time.perf_counter()
        said = upstream.hand_over(1, plan_digest(plan_bytes(plan)), 1, sealed)
        took = time.perf_counter() - started
        assert said["counted"] == CROWD
    return took, each


def run() -> list[Row]:
    """Measure what a client, a relay and a service do with a sealed report."""
    private = new_private_key()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        durable, bare = left_with_relays(folder, private)
        took, each = handed_over(folder, private)
    what = "one sealed report left with a relay, committed to SQLite; 256 connections"
    return [
        Row(what, durable, "the same without the commit", bare, "µs", limit=1 / 0.6),
        Row("sealing a report", 1e3 * each, "what a client may take", 5.0, "ms", limit=1),
        Row(f"hand-over of {CROWD:,} reports", took, "what it may take", 20.0, "s", limit=1),
    ]
