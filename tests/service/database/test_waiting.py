"""PostgreSQL stopped, or crashed, and started again under load: clients wait, nothing is lost."""

from __future__ import annotations

import time
import tomllib

import pytest

from ldprl.errors import InputError
from ldprl.protocol.deployment import Deployment
from ldprl.service.database.session import wait_for_postgres
from ldprl.service.run import _open
from ldprl.service.settings import ServiceSettings

from ..cluster import Postgres
from ..conftest import DEPLOYMENT as SMALL
from ..conftest import StartServer
from ..load import DEPLOYMENT, Load
from ..server import Server

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


def test_a_server_that_starts_before_its_database_waits_for_it(
    start_server: StartServer, postgres: Postgres
) -> None:
    database = postgres.database()
    postgres.stop()

    def start_later(said: str) -> None:
        if "does not respond" in said and not postgres.running:
            postgres.start()

    try:
        server = start_server(SMALL, database, meanwhile=start_later)
    finally:
        if not postgres.running:
            postgres.start()
    said = server.errors()
    assert said.count("does not respond: waiting for 300 s at most") == 1
    assert said.index("does not respond") < said.index(f"{database} responds")
    assert server.get("/healthz").status == 200


def test_waiting_has_an_end(caplog: pytest.LogCaptureFixture) -> None:
    started = time.monotonic()
    with pytest.raises(InputError, match="expected one that responds within 1 s"):
        wait_for_postgres("postgresql://someone:hunter2@127.0.0.1:1/x", 1)
    assert 0.9 < time.monotonic() - started < 10
    assert "hunter2" not in caplog.text
    assert len(caplog.records) == 1


@pytest.mark.parametrize("wrong", ["/none", "/postgres?user=nobody"])
def test_what_the_database_itself_refuses_is_not_waited_for(postgres: Postgres, wrong: str) -> None:
    """No such database; no such user."""
    address = postgres.url.rpartition("/")[0] + wrong
    wait_for_postgres(address, 20)
    with pytest.raises(InputError, match="does not exist"):
        _open(ServiceSettings(Deployment.from_toml(tomllib.loads(SMALL)), address))
