"""PostgreSQL stopped, or crashed, and started again under load: clients wait, nothing is lost."""

from __future__ import annotations

import time

import pytest

from .cluster import Postgres
from .conftest import StartServer
from .load import DEPLOYMENT, Load
from .server import Server

_PATIENCE = 60.0


def wait_for_health(server: Server, status: int) -> None:
    deadline = time.monotonic() + _PATIENCE
    while server.get("/healthz").status != status:
        assert time.monotonic() < deadline, server.errors()
        time.sleep(0.05)


@pytest.mark.parametrize("mode", ["immediate", pytest.param("fast", marks=pytest.mark.slow)])
def test_a_database_that_comes_back_lost_nothing(
    start_server: StartServer, postgres: Postgres, mode: str
) -> None:
    database = postgres.database()
    servers = [start_server(DEPLOYMENT, database) for _ in range(2)]
    with Load(*(server.url for server in servers)) as load:
        load.wait_for(50)
        postgres.stop(mode)
        try:
            for server in servers:
                wait_for_health(server, 503)
            assert load.delays[503] > 0
            version = max(version for version, _, _ in load.sent)
        finally:
            postgres.start()
        for server in servers:
            wait_for_health(server, 200)
        load.wait_for(50)
        # The planner's lock went with the database; one of the servers has it again.
        deadline = time.monotonic() + _PATIENCE
        while servers[0].get("/v1/status").json["version"] < version + 2:
            assert time.monotonic() < deadline, [server.errors() for server in servers]
            time.sleep(0.05)
    for server in servers:
        assert load.faults(server) == {}
        assert server.process.poll() is None
