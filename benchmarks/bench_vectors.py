"""Users of large policies: each gets one of their own, and reports one bit under it.

Policies with 10⁴ parameters are beside tables at 716 states and 25 actions, in turns. What a user
takes is the time of a response and of a report that is counted, each with all connections busy.
"""

from __future__ import annotations

import contextlib
import tempfile
from pathlib import Path
from statistics import median
from typing import NamedTuple

from benchmarks.bench_service import Server, serving
from benchmarks.row import Row

ROUNDS = 5
ASKED, COUNTED = (32, 1000, 0), (32, 1000, 1)
"""Connections, requests in a round, and reports in each; none asks for policies."""
HEAD = 'name = "benchmark"\nepsilon = "1"\nepochs = "every:1000000000"\n'
TABLES = HEAD + 'states = 716\nactions = 25\nhorizon = 20\nmechanism = "return-bits"\n'
_FEATURES = ", ".join(f'"x{i}"' for i in range(99))
_ACTIONS = ", ".join(f'"a{i}"' for i in range(100))
VECTORS = f"""{HEAD}
[policy]
kind = "linear"
horizon = 20
returns = [0, 20]
actions = [{_ACTIONS}]
features = [{_FEATURES}]
"""
"""(1 + 99)·100 parameters."""


class User(NamedTuple):
    """µs of a server for one user: elapsed, and of its processors."""

    elapsed: float
    processor: float


def user_of(server: Server) -> User:
    """Measure a response and a report."""
    asked, counted = server.load(*ASKED), server.load(*COUNTED)
    return User(asked.report + counted.report, asked.processor + counted.processor)


def run() -> list[Row]:
    """Measure both servers in turns; what is said is the round with the median ratio."""
    rounds = []
    with tempfile.TemporaryDirectory() as name, contextlib.ExitStack() as running:
        servers = []
        for place, deployment in enumerate((VECTORS, TABLES)):
            (folder := Path(name) / str(place)).mkdir()
            servers.append(running.enter_context(serving("ldprl", folder, deployment)))
        for server in servers:
            user_of(server)
        for _ in range(ROUNDS):
            rounds.append([user_of(server) for server in servers])
    ratio = median(ours.elapsed / theirs.elapsed for ours, theirs in rounds)
    ours, theirs = next(pair for pair in rounds if pair[0].elapsed / pair[1].elapsed == ratio)
    what = "a user's policy and report, 10⁴ parameters (157 hashes)"
    reference = "tables, S=716, A=25"
    return [
        Row(what, ours.elapsed, reference, theirs.elapsed, "µs", limit=2.0),
        Row("the same, processor time of the server", *_processor(ours, theirs), "µs"),
    ]


def _processor(ours: User, theirs: User) -> tuple[float, str, float]:
    return ours.processor, "of tables", theirs.processor
