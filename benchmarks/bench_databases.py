"""One report in one POST, committed durably: PostgreSQL beside SQLite, in turns, in one run.

PostgreSQL's processes share the machine with the server and the client. Both databases sync to
the same disk at every commit.
"""

from __future__ import annotations

import contextlib
import tempfile
from pathlib import Path

import pytest

from benchmarks.bench_service import FEW, SINGLE, Measured, middle, serving
from benchmarks.row import Row
from tests.service.cluster import Postgres

ROUNDS = 9


def run() -> list[Row]:
    """Measure both on 256 and on 64 connections; no rows where PostgreSQL is not installed."""
    with tempfile.TemporaryDirectory() as name, contextlib.ExitStack() as running:
        try:
            cluster = Postgres.create(durable=True)
        except pytest.skip.Exception:
            return []
        running.callback(cluster.remove)
        ours = running.enter_context(serving("ldprl", Path(name), database=cluster.database()))
        theirs = running.enter_context(serving("ldprl", Path(name)))
        rounds = {connections: (list[Measured](), list[Measured]()) for connections in (256, 64)}
        for server in (ours, theirs):
            server.load(*SINGLE)
        for _ in range(ROUNDS):
            for load in (SINGLE, FEW):
                for server, measured in zip((ours, theirs), rounds[load[0]], strict=True):
                    measured.append(server.load(*load))
    rows = []
    for connections, both in rounds.items():
        what = f"one report in one POST, committed to PostgreSQL; {connections} connections"
        mine, other = middle(*both)
        rows.append(Row(what, mine, "to SQLite", other, "µs", limit=2.0))
    return rows
