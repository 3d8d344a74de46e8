"""What a deployment of a given size needs, computed from what is measured here.

``python -m benchmarks.sizing --markdown docs/service/sizing.md`` measures and writes the page.
Times are processor time, which hardly changes with what else the machine does; rates on the clock
are given where the machine was the limit.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import math
import re
import shutil
import subprocess
import tempfile
import urllib.request
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path

import psycopg

from benchmarks import bench_ids
from benchmarks.__main__ import machine
from benchmarks.bench_service import FEW, serving
from tests.service.balancer import CONF, balancer
from tests.service.cluster import Postgres

HEALTH = """
name = "sizing"
states = 60
actions = 6
horizon = 14
epsilon = "2"
learner = "ldp-returns"
mechanism = "return-bits"
epochs = "every:1000000000"
"""
"""The sizes of a health app whose episode is a fortnight; its plan stays."""
LARGE = HEALTH.replace("states = 60", "states = 305")
"""One whose plan has 40 kB."""
USERS, DAYS = (10**6, 5 * 10**7), 15
"""Users in a day, and for how many days their ids are kept: a fortnight's episode and a day."""
BUSIEST, LOAD = 0.2, 0.5
"""Share of a day's users in its busiest hour, and how busy a processor may be in that hour."""
_REQUESTS = (64, 20_000, 0)
_BALANCER = "127.0.0.1:18080"


@dataclass(frozen=True)
class Measured:
    """Processor time in µs for each request, bytes for each report, and a plan's size."""

    report: float
    policy: float
    database: float
    joined: float
    wal: float
    id: float
    sqlite_id: float
    plan: float
    packed: float
    cached: float
    cached_packed: float
    rate: float
    rate_packed: float


def measure() -> Measured:
    """Measure on a cluster that waits for its disk."""
    with tempfile.TemporaryDirectory() as name, contextlib.ExitStack() as running:
        folder = Path(name)
        cluster = Postgres.create(durable=True)
        running.callback(cluster.remove)
        id_bytes, _ = bench_ids.postgres(cluster.database())
        url = cluster.database()
        server = running.enter_context(serving("ldprl", folder, HEALTH, url))
        server.load(*FEW)
        postmaster = next((cluster.folder / "data" / "postmaster.pid").open()).strip()
        with psycopg.connect(url, autocommit=True) as session:
            lsn = "SELECT pg_current_wal_lsn() - '0/0'::pg_lsn"
            began, wal = processor_seconds(postmaster), session.execute(lsn).fetchone()
            single = [server.load(*FEW).processor for _ in range(5)]
            spent, written = processor_seconds(postmaster) - began, session.execute(lsn).fetchone()
        assert wal is not None
        assert written is not None
        counted = 5 * FEW[1]
        policies = server.load(*_REQUESTS).processor
        (other := folder / "other").mkdir()
        second = running.enter_context(serving("ldprl", other, HEALTH, url))
        second.load(*FEW)
        joined = second.load(*FEW).processor
        caches = from_caches()
        return Measured(
            report=sorted(single)[2],
            policy=policies,
            database=1e6 * spent / counted,
            joined=joined,
            wal=float(written[0] - wal[0]) / counted,
            id=id_bytes,
            sqlite_id=bench_ids.sqlite(Path(running.enter_context(tempfile.TemporaryDirectory()))),
            **caches,
        )


def from_caches() -> dict[str, float]:
    """Return what a cache of a plan of 40 kB costs and gives."""
    with tempfile.TemporaryDirectory() as name, serving("ldprl", Path(name), LARGE) as server:
        plain, packed = (fetched(server.url, encoding) for encoding in ("identity", "gzip"))
        (spent, rate), (spent_packed, rate_packed) = (
            cached(Path(name), server.url, encoding) for encoding in ("identity", "gzip")
        )
    return {
        "plan": plain,
        "packed": packed,
        "cached": spent,
        "cached_packed": spent_packed,
        "rate": rate,
        "rate_packed": rate_packed,
    }


def processor_seconds(parent: str) -> float:
    """Return the processor time of a process and its children."""
    own = [parent]
    for status in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            if status.read_text().rpartition(")")[2].split()[1] == parent:
                own.append(status.parent.name)
    spent = 0
    for pid in own:
        for task in Path(f"/proc/{pid}/task").glob("*/schedstat"):
            with contextlib.suppress(OSError):
                spent += int(task.read_text().split()[0])
    return spent / 1e9


def fetched(url: str, encoding: str) -> int:
    """Return how many bytes the plan has, as it is sent."""
    asked = urllib.request.Request(f"{url}/v1/policy", headers={"Accept-Encoding": encoding})
    with urllib.request.urlopen(asked, timeout=60) as answer:
        return len(answer.read())


def cached(folder: Path, url: str, encoding: str) -> tuple[float, float]:
    """Return nginx's µs for a plan from its cache, and plans a second; 0 without nginx or wrk."""
    wrk = shutil.which("wrk")
    if wrk is None or shutil.which("nginx", path="/usr/sbin:/usr/bin") is None:
        return 0.0, 0.0
    text = CONF.read_text(encoding="utf-8")
    text = re.sub(r"server 10\.0\.0\.12.*", "", text)
    text = text.replace("10.0.0.11:8000", url.removeprefix("http://"))
    nginx = balancer(folder, _BALANCER, text)
    try:
        line = [wrk, "-t1", "-c64", "-d8s", "-H", f"Accept-Encoding: {encoding}"]
        line.append(f"http://{_BALANCER}/v1/policy")
        began = processor_seconds(str(nginx.pid))
        said = subprocess.run(line, capture_output=True, text=True, check=True, timeout=60).stdout
        spent = processor_seconds(str(nginx.pid)) - began
    finally:
        nginx.terminate()
        nginx.wait()
    assert "Non-2xx" not in said, said
    (requests,) = re.findall(r"(\d+) requests in", said)
    (rate,) = re.findall(r"Requests/sec: +([\d.]+)", said)
    return 1e6 * spent / int(requests), float(rate)


def needs(users: int, found: Measured) -> dict[str, str]:
    """Return what so many users a day need."""
    peak = users * BUSIEST / 3600
    cores = peak * (found.report + found.policy) / 1e6 / LOAD
    processes = max(2, math.ceil(cores))
    return {
        "reports a second, mean and in the busiest hour": f"{users / 86400:,.0f}; {peak:,.0f}",
        "processors for servers": f"{cores:.2g}",
        "server processes, two at least": f"{processes}",
        "PostgreSQL's processors": f"{peak * found.database / 1e6 / LOAD:.2g}",
        "PostgreSQL's connections": f"{3 * (processes + 1)}, with one more server while upgrading",
        f"ids of {DAYS} days on disk": f"{users * DAYS * found.id / 1e9:,.1f} GB",
        "the same in SQLite's file, and in memory": (
            f"{users * DAYS * found.sqlite_id / 1e9:,.1f} GB; {users * DAYS * 16 / 1e9:,.1f} GB"
        ),
        "write-ahead log in a day": f"{users * found.wal / 1e9:,.1f} GB",
        "the first server's start: reading all ids": f"{users * DAYS / 1e6 / 60:,.0f} min",
        "such plans in the busiest hour, from a cache": f"{8e-6 * peak * found.plan:,.0f} Mbit/s",
    }


def page(found: Measured) -> str:
    """Return the page of the documentation."""
    both = [needs(users, found) for users in USERS]
    rows = [f"| {what} | {both[0][what]} | {both[1][what]} |" for what in both[0]]
    measured: Iterable[tuple[str, str]] = (
        ("server: one report in one POST, committed to PostgreSQL", f"{found.report:.0f} µs"),
        ("the same by a second server on that database", f"{found.joined:.0f} µs"),
        ("server: one policy", f"{found.policy:.0f} µs"),
        ("PostgreSQL, all its processes: one report", f"{found.database:.0f} µs"),
        ("PostgreSQL: an id on disk, with its index", f"{found.id:.1f} bytes"),
        ("PostgreSQL: write-ahead log for a report", f"{found.wal:.0f} bytes"),
        ("SQLite: an id in the file", f"{found.sqlite_id:.1f} bytes"),
        (
            "a first plan of 305 states; compressed",
            f"{found.plan:,}; {found.packed:,} bytes",
        ),
        (
            "nginx: that plan from its cache; compressed",
            f"{found.cached:.0f} µs; {found.cached_packed:.0f} µs",
        ),
        (
            "the same on the clock, beside the program that asks (wrk)",
            f"{found.rate:,.0f}; {found.rate_packed:,.0f} a second",
        ),
    )
    lines = "\n".join(f"| {what} | {value} |" for what, value in measured)
    return PAGE.format(
        machine=machine(), measured=lines, needs="\n".join(rows), busiest=BUSIEST, load=LOAD
    )


PAGE = """\
# How large a service must be

Written by `python -m benchmarks.sizing --markdown docs/service/sizing.md` (some minutes;
PostgreSQL, and nginx and wrk for the cache). The problem is a health app: 60 states, 6 actions,
episodes of 14 days, return bits.

## Measured

{machine}. Times are processor time for each request, so that they hold on a busy machine too; a
real disk was waited for at every commit.

| what | |
|---|---:|
{measured}

The first plan is even, and so shorter when compressed than later ones. Servers, PostgreSQL, nginx
and the programs that ask shared two processors with much else: rates on the clock are what was
left. Two servers at once were not measured here, as they would only wait for each other; what they
share is PostgreSQL, which has a processor's time for each report, and commits that add to the same
sums wait for each other, while the reports that arrive meanwhile make the next commit.

## Computed

With {busiest:.0%} of a day's users in its busiest hour, processors that are busy for {load:.0%}
of that hour, and ids that are kept for 15 days (an episode of 14 days, and a day). Nothing of
this was run with so many users.

| | 10⁶ users a day | 5·10⁷ users a day |
|---|---:|---:|
{needs}

What grows is the ids alone, and they stay at this size: versions that are over are dropped whole.
Plans and sums grow with the logarithm of the users. The time at which the first server starts is
that of PostgreSQL's reading of all ids, at a million a second; servers that join others do not
wait for it. Where policies are long, put a [cache](../how-to/several-machines.md) in front of
whatever is the same for all: the relay's plan, and `/v1/policy/VERSION/ASSIGNMENT`. A user's own
policy (`/v1/policy?id=…`) comes from a server.
"""


def main() -> None:
    """Measure, print and write."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.sizing", description=main.__doc__)
    parser.add_argument("--markdown", type=Path, metavar="FILE", help="write the page")
    file: Path | None = parser.parse_args().markdown
    found = measure()
    print(json.dumps(asdict(found), indent=1))
    if file is not None:
        file.write_text(page(found), encoding="utf-8")


if __name__ == "__main__":
    main()
