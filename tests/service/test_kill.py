"""A server killed at random moments under load: what it acknowledged is counted, and once."""

from __future__ import annotations

import random
import time
from collections.abc import Sequence
from pathlib import Path

import pytest

from .conftest import StartServer
from .load import DEPLOYMENT, VECTORS, Load, VectorLoad
from .server import PROGRAM

Kind = tuple[str, type[Load]]
TABLES: Kind = (DEPLOYMENT, Load)
KINDS = pytest.mark.parametrize("kind", [TABLES, (VECTORS, VectorLoad)], ids=["tables", "vectors"])


def kill_and_restart(
    start_server: StartServer,
    database: str,
    kills: int,
    seed: int = 0,
    program: Sequence[str] = PROGRAM,
    kind: Kind = TABLES,
) -> dict[str, int]:
    """Kill the server at random moments after it has begun to count, and return the faults."""
    rng = random.Random(seed)
    deployment, loading = kind
    server = start_server(deployment, database, program=program)
    with loading(server.url) as load:
        for _ in range(kills):
            load.wait_for(1)
            time.sleep(rng.uniform(0.0, 0.5))
            server.kill()
            server = start_server(deployment, database, program=program)
            load.urls = [server.url]
        load.wait_for(100)
    return load.faults(server)


@pytest.fixture
def file(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path}/killed.sqlite"


@KINDS
def test_three_kills_lose_nothing(start_server: StartServer, file: str, kind: Kind) -> None:
    assert kill_and_restart(start_server, file, 3, kind=kind) == {}


@pytest.mark.slow
@KINDS
def test_twenty_kills_lose_nothing(start_server: StartServer, database: str, kind: Kind) -> None:
    assert kill_and_restart(start_server, database, 20, seed=1, kind=kind) == {}


@KINDS
@pytest.mark.parametrize(
    ("mutant", "fault"),
    [
        ("answer-early", "lost"),
        pytest.param("forget-ids", "twice", marks=pytest.mark.slow),
    ],
    ids=str,
)
def test_a_server_that_loses_or_repeats_would_be_noticed(
    start_server: StartServer, file: str, mutant: str, fault: str, kind: Kind
) -> None:
    """The mutants: one acknowledges before the commit, one counts a repeated report again."""
    program = ("-P", str(Path(__file__).with_name("mutants.py")), mutant)
    assert fault in kill_and_restart(start_server, file, 1, program=program, kind=kind)
