"""A real server and a real PostgreSQL, started by the tests and stopped by them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from .cluster import Postgres
from .server import Server

# A learner that needs no compiling, so that servers start fast; sizes of subsets above 1.
DEPLOYMENT = """
name = "test"
states = 3
actions = 2
horizon = 3
epsilon = "0.5"
learner = "ldp-obi"
first_epoch = 1000000
"""

StartServer = Callable[..., Server]


@pytest.fixture(scope="session")
def postgres() -> Iterator[Postgres]:
    """A PostgreSQL cluster of our own; ``postgres.database()`` makes a fresh database in it."""
    cluster = Postgres.create()
    yield cluster
    cluster.remove()


@pytest.fixture(params=["sqlite", "postgresql"])
def database(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The address of an empty database, of each kind in turn."""
    return _empty_database(request, tmp_path)


postgresql_is_slow = pytest.mark.parametrize(
    "database", ["sqlite", pytest.param("postgresql", marks=pytest.mark.slow)], indirect=True
)
"""For tests of what is above the database, which has tests of its own with each kind."""


@pytest.fixture
def start_server(tmp_path: Path) -> Iterator[StartServer]:
    """Start servers with ``start_server(deployment, database, *options)``; all are stopped."""
    started: list[Server] = []

    def start(deployment: str, database: str, *options: str, **how: Any) -> Server:
        server = _start(tmp_path, deployment, database, *options, **how)
        started.append(server)
        return server

    yield start
    for server in started:
        server.kill()


@pytest.fixture(
    scope="module", params=["sqlite", pytest.param("postgresql", marks=pytest.mark.slow)]
)
def server(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Server]:
    """A server that the tests of a file share, with each kind of database in turn."""
    folder = tmp_path_factory.mktemp("server")
    shared = _start(folder, DEPLOYMENT, _empty_database(request, folder))
    yield shared
    shared.kill()


def _empty_database(request: pytest.FixtureRequest, folder: Path) -> str:
    if request.param == "sqlite":
        return f"sqlite:///{folder}/test.sqlite"
    cluster: Postgres = request.getfixturevalue("postgres")
    return cluster.database()


def _start(folder: Path, deployment: str, database: str, *options: str, **how: Any) -> Server:
    file = folder / "deployment.toml"
    file.write_text(deployment, encoding="utf-8")
    return Server.start("--deployment", str(file), "--database", database, *options, **how)
