"""Two servers, a database, a balancer and users, on five machines; those fail, nobody notices."""

from __future__ import annotations

import contextlib
import random
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from .balancer import balancer
from .cluster import Postgres
from .conftest import StartServer
from .load import DEPLOYMENT, Load
from .machines import Machines
from .server import Client, Server
from .test_takeover import made, wait_for_plan

pytestmark = pytest.mark.slow
SERVERS = ("one", "two")


class Site(NamedTuple):
    """Two servers behind a balancer; ``url`` is what users know of it."""

    machines: Machines
    start: Callable[[str], Server]
    servers: dict[str, Server]
    url: str


@pytest.fixture
def site(start_server: StartServer, tmp_path: Path) -> Iterator[Site]:
    machines = Machines("one", "two", "database", "balancer", "users")
    with contextlib.ExitStack() as running:
        running.callback(machines.remove)
        machines.connect()
        with machines.on("database") as address:
            cluster = Postgres.create(address=address)
            running.callback(cluster.remove)
            database = cluster.database()

        def start(name: str) -> Server:
            with machines.on(name) as address:
                return start_server(DEPLOYMENT, database, "--host", address, "--port", "8000")

        servers = {name: start(name) for name in SERVERS}
        with machines.on("balancer") as address:
            nginx = balancer(tmp_path, f"{address}:8080")
            running.callback(nginx.wait)
            running.callback(nginx.terminate)
        running.enter_context(machines.on("users"))
        yield Site(machines, start, servers, f"http://{address}:8080")


def test_twenty_kills_of_either_lose_nothing(site: Site) -> None:
    rng = random.Random(2)
    with Load(site.url) as load:
        for _ in range(20):
            load.wait_for(1)
            time.sleep(rng.uniform(0.0, 0.5))
            name = rng.choice(SERVERS)
            site.servers[name].kill()
            # The other one goes on alone.
            load.wait_for(5)
            site.servers[name] = site.start(name)
        load.wait_for(100)
    print(f"{len(load.acknowledged)} reports, later: {dict(load.delays)}")
    assert load.faults(site.servers["one"]) == {}


@pytest.mark.parametrize("fault", ["cable", "stopped"])
def test_the_planners_machine_fails_and_comes_back(site: Site, fault: str) -> None:
    """It loses its network, or does not move; another server plans within half a minute."""
    planner, other = (site.servers[name] for name in SERVERS)
    with Load(site.url) as load:
        wait_for_plan(planner)
        assert made(other) == []
        failed = time.monotonic()
        fail(site, planner, fault)
        # What waits for the server that does not respond waits no longer than the balancer does.
        load.wait_for(20)
        served = time.monotonic() - failed
        wait_for_plan(other)
        took = time.monotonic() - failed
        fail(site, planner, fault, over=True)
        wait_for_plan(other)
        load.wait_for(100)
    print(f"{fault}: 20 reports after {served:.1f} s, a plan of the other after {took:.1f} s")
    assert took < 30
    assert load.faults(other) == {}
    versions = [one["version"] for one in other.admin("GET", "/v1/admin/export").json["plans"]]
    assert versions == list(range(1, len(versions) + 1)) == sorted(made(planner) + made(other))


def fail(site: Site, server: Server, fault: str, *, over: bool = False) -> None:
    if fault == "cable":
        site.machines.cut("one", cut=not over)
    else:
        server.process.send_signal(signal.SIGCONT if over else signal.SIGSTOP)


def test_servers_are_upgraded_one_by_one_and_nobody_waits(site: Site) -> None:
    with Load(site.url) as load:
        for name in SERVERS * 2:
            load.wait_for(50)
            assert site.servers[name].stop() == 0
            load.wait_for(50)
            site.servers[name] = site.start(name)
        load.wait_for(50)
    assert load.faults(site.servers["one"]) == {}
    # Nobody was told to come again later.
    assert not load.delays


def test_plans_come_from_the_balancer_while_no_server_responds(site: Site) -> None:
    users = Client(site.url)
    gzip, mine = {"accept-encoding": "gzip"}, f"/v1/policy?id={'0' * 32}"
    kept = ("/v1/policy", "/v1/policy/1/0")
    before = {path: (users.get(path).body, users.get(path, **gzip).body) for path in kept}
    assert all(len(packed) < len(plain) for plain, packed in before.values())
    assert users.get(mine).status == 200
    for server in site.servers.values():
        server.kill()
    # They are older than what may be kept, and nobody has newer ones.
    time.sleep(11)
    for path in kept:
        found = users.get(path), users.get(path, **gzip | {"accept": "x"})
        assert tuple(one.body for one in found) == before[path]
        assert found[1].headers["content-encoding"] == "gzip"
    assert users.get(mine).status == 502
