"""Two servers on one PostgreSQL: the one that plans is killed, and the other plans on."""

from __future__ import annotations

import itertools
import re
import time

from .cluster import Postgres
from .conftest import StartServer
from .load import DEPLOYMENT, EPOCH, Load
from .server import Server

_PATIENCE = 60.0


def made(server: Server) -> list[int]:
    """Return the versions that this server made."""
    return [int(version) for version in re.findall(r"version (\d+) is in force", server.errors())]


def wait_for_plan(server: Server) -> None:
    """Wait until this server has made one version more."""
    before, deadline = len(made(server)), time.monotonic() + _PATIENCE
    while len(made(server)) == before:
        assert time.monotonic() < deadline, server.errors()
        time.sleep(0.05)


def test_a_version_is_known_to_all_servers_as_soon_as_to_one(
    start_server: StartServer, postgres: Postgres
) -> None:
    database = postgres.database()
    first, second = (start_server(DEPLOYMENT, database) for _ in range(2))
    for version in range(2, 6):
        assert first.admin("POST", "/v1/admin/publish").json["version"] == version
        reports = [first.report() for _ in range(3)]
        assert {report["version"] for report in reports} == {version}
        # At once, and not when the second server next looks at the database.
        answer = second.post("/v1/reports", reports.pop() if version % 2 else reports)
        assert '"counted"' in answer.body.decode(), answer


def test_the_planner_is_killed_and_another_server_takes_over(
    start_server: StartServer, postgres: Postgres
) -> None:
    database = postgres.database()
    first = start_server(DEPLOYMENT, database)
    second = start_server(DEPLOYMENT, database)
    with Load(first.url, second.url) as load:
        wait_for_plan(first)
        assert made(second) == []
        first.kill()
        load.urls = [second.url]
        wait_for_plan(second)
        third = start_server(DEPLOYMENT, database)
        load.urls = [second.url, third.url]
        wait_for_plan(second)
        second.kill()
        load.urls = [third.url]
        wait_for_plan(third)
    assert load.faults(third) == {}
    plans = third.admin("GET", "/v1/admin/export").json["plans"]
    versions = [plan["version"] for plan in plans]
    assert versions == [*made(first), *made(second), *made(third)]
    assert versions == list(range(1, len(versions) + 1))
    users = [plan["users"] for plan in plans]
    assert all(later - earlier >= EPOCH for earlier, later in itertools.pairwise(users))
