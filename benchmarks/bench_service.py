"""Reports over HTTP on loopback: each committed to disk, beside the same server that commits none.

A server and a client process share the machine, so rates depend on who else uses it; the two
servers are measured in turns, and what is claimed is their ratio, in the median round.
"""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

from benchmarks.row import Row

ROUNDS = 9
SINGLE, FEW, BATCHES = (256, 4000, 1), (64, 4000, 1), (256, 400, 50)
"""Connections, requests in a round, and reports in each of them.

A commit waits for the disk, whose sync takes milliseconds. On few connections all clients soon
wait for it, and the rate is theirs, connections ÷ time of a commit; on many, it is the server's.
"""
DEPLOYMENT = """
name = "benchmark"
states = 4
actions = 3
horizon = 4
mechanism = "subset-selection"
epsilon = "3"
epochs = "every:1000000000"
"""
"""The demo's sizes; the plan stays, as planning is off the requests' path and measured apart."""
TABLES = DEPLOYMENT.replace("subset-selection", "return-bits")
"""The same where every user has one of thousands of tables, and its number is in the report."""


class Measured(NamedTuple):
    """One round: µs a report, all connections together; ms a request, median and slowest 1%.

    ``processor`` is the server's own time, in µs a report: unlike the others it does not wait for
    a disk, and hardly changes with what else the machine does.
    """

    report: float
    p50: float
    p99: float
    processor: float


HERE = Path(__file__).parents[1]


@dataclass(frozen=True)
class Server:
    """A server that runs, the database that it keeps its sums in, and the checkout of its code."""

    process: subprocess.Popen[str]
    url: str
    database: str
    checkout: Path = HERE

    def load(self, connections: int, requests: int, batch: int) -> Measured:
        """Have this many requests sent from another process."""
        line = [sys.executable, "-m", "benchmarks.loopback", self.url, self.database]
        line += [str(connections), str(requests), str(batch)]
        before = self.processor_seconds()
        done = subprocess.run(
            line,
            capture_output=True,
            text=True,
            timeout=120,
            check=True,
            **_from(self.checkout),
        )
        found = json.loads(done.stdout)
        assert found["counted"] == requests * max(batch, 1)
        spent = self.processor_seconds() - before
        return Measured(
            1e6 * found["took"] / found["counted"],
            1e3 * found["p50"],
            1e3 * found["p99"],
            1e6 * spent / found["counted"],
        )

    def processor_seconds(self) -> float:
        """Return the processor time that its threads have taken."""
        threads = Path(f"/proc/{self.process.pid}/task").glob("*/schedstat")
        return sum(int(one.read_text(encoding="utf-8").split()[0]) for one in threads) / 1e9

    def megabytes(self) -> float:
        """Return the memory that it holds."""
        status = Path(f"/proc/{self.process.pid}/status").read_text(encoding="utf-8")
        held = next(line for line in status.splitlines() if line.startswith("VmRSS"))
        return int(held.split()[1]) / 1024


@contextlib.contextmanager
def serving(
    module: str,
    folder: Path,
    deployment: str = DEPLOYMENT,
    database: str | None = None,
    checkout: Path = HERE,
) -> Iterator[Server]:
    """Start ``python -m module serve`` on a free port, with SQLite by default, and stop it."""
    file, database = folder / "deployment.toml", database or f"sqlite:///{folder}/{module}.sqlite"
    file.write_text(deployment, encoding="utf-8")
    line = [sys.executable, "-m", module, "serve", "--deployment", str(file), "--port", "0"]
    line += ["--database", database, "--rate-limit", "0"]
    log = folder / f"{module}-{database.partition(':')[0]}.log"
    with log.open("w", encoding="utf-8") as written:
        process = subprocess.Popen(line, stderr=written, text=True, **_from(checkout))
    try:
        yield Server(process, _address(process, log), database, checkout)
    finally:
        process.kill()
        process.wait()


def _from(checkout: Path) -> dict[str, Any]:
    """Return what has Python import a checkout's own code."""
    path = os.pathsep.join([str(checkout / "src"), str(checkout)])
    return {"cwd": checkout, "env": os.environ | {"PYTHONPATH": path}}


def _address(process: subprocess.Popen[str], log: Path) -> str:
    deadline = time.monotonic() + 300
    while time.monotonic() < deadline and process.poll() is None:
        for line in log.read_text(encoding="utf-8").splitlines():
            if " serving " in line:
                return line.split()[-1]
        time.sleep(0.05)
    raise RuntimeError(log.read_text(encoding="utf-8"))


def run() -> list[Row]:
    """Measure single reports and batches of 50, by both servers in turns."""
    bare, single, batches, bare_few, few, tabled, plain = (list[Measured]() for _ in range(7))
    with tempfile.TemporaryDirectory() as name, contextlib.ExitStack() as running:
        durable = running.enter_context(serving("ldprl", Path(name)))
        ceiling = running.enter_context(serving("benchmarks.uncommitted", Path(name)))
        handler = running.enter_context(serving("benchmarks.bare", Path(name)))
        # It has no plan, and takes any: its reports are made for the first server.
        handler = replace(handler, database=durable.database)
        (apart := Path(name) / "tables").mkdir()
        tables = running.enter_context(serving("ldprl", apart, TABLES))
        for server in (durable, ceiling, tables, handler):
            server.load(*SINGLE)
        before = durable.megabytes()
        for _ in range(ROUNDS):
            bare.append(ceiling.load(*SINGLE))
            single.append(durable.load(*SINGLE))
            batches.append(durable.load(*BATCHES))
            tabled.append(tables.load(*BATCHES))
            bare_few.append(ceiling.load(*FEW))
            few.append(durable.load(*FEW))
            plain.append(handler.load(*FEW))
        after = durable.megabytes()
    alone, top = middle(single, bare)
    waiting, idle = middle(few, bare_few)
    ours, theirs = middle(few, plain)
    spent, least = middle(few, plain, "processor")
    many, one = middle(batches, single)
    long, short = middle(tabled, batches)
    p50, p99 = median(it.p50 for it in single), median(it.p99 for it in single)
    what, reference = "one report in one POST, committed to SQLite", "the same without the commit"
    counted = sum(ROUNDS * requests * batch for _, requests, batch in (SINGLE, FEW, BATCHES))
    return [
        Row(f"{what}; 256 connections", alone, reference, top, "µs", limit=1 / 0.6),
        Row(f"{what}; 64 connections", waiting, reference, idle, "µs"),
        Row(f"{what}; 64 connections", ours, "decoded by a bare handler", theirs, "µs", limit=2),
        Row(
            "the same, processor time of the server", spent, "of the handler", least, "µs", limit=2
        ),
        Row("one report in a batch of 50", many, "one in one POST", one, "µs", limit=1 / 6),
        Row("one return bit in a batch of 50", long, "a subset in such a batch", short, "µs"),
        Row("slowest 1% of POSTs on 256 connections", p99, "the median", p50, "ms"),
        Row(f"server's memory after {counted:,} reports", after, "before", before, "MiB"),
    ]


def middle(
    ours: list[Measured], theirs: list[Measured], what: str = "report"
) -> tuple[float, float]:
    """Return both sides of the round with the median ratio: load comes and goes between rounds."""
    rounds = [
        (getattr(one, what), getattr(other, what)) for one, other in zip(ours, theirs, strict=True)
    ]
    return sorted(rounds, key=lambda pair: pair[0] / pair[1])[len(rounds) // 2]
