"""One server plans. One that was stopped loses the right to, and publishes nothing afterwards."""

from __future__ import annotations

import asyncio
import json
import signal
import time
import tomllib
from collections.abc import Callable, Iterator

import pytest

from ldprl.protocol.deployment import Deployment
from ldprl.service import board as board_module
from ldprl.service.causes import DelayedError
from ldprl.service.gauges import gauges
from ldprl.service.routes import Routes
from ldprl.service.service import Service
from ldprl.service.settings import ServiceSettings

from ..cluster import Postgres
from ..conftest import DEPLOYMENT, StartServer
from ..load import DEPLOYMENT as UNDER_LOAD
from ..load import Load
from ..server import Server
from ..test_planner import LEARNING, admitted
from ..test_takeover import made

SHORT = 0.8
"""Seconds of a lease."""
SHORT_LEASE = ("-m", "tests.service.short_lease")
"""A server with a lease of two seconds."""
START = Callable[[], Service]


@pytest.fixture
def start(postgres: Postgres) -> Iterator[START]:
    """Open services on one database; their threads do not run."""
    url = postgres.database()
    deployment = Deployment.from_toml(tomllib.loads(DEPLOYMENT))
    services: list[Service] = []

    def opened() -> Service:
        service = Service(ServiceSettings(deployment, url, lease_seconds=SHORT))
        services.append(service)
        service.prepare()
        return service

    yield opened
    for service in services:
        service.database.close()


def leader_and_other(start: START) -> tuple[Service, Service]:
    """Start two services, of which the first one plans."""
    first, second = start(), start()
    # On a busy machine the first one's lease ends while the second one starts.
    while not first.database.lead():
        time.sleep(SHORT / 20)
    return first, second


def test_a_lease_that_is_not_renewed_goes_to_another(start: START) -> None:
    first, second = leader_and_other(start)
    # Planning itself renews it.
    deadline = time.monotonic() + 2 * SHORT
    while time.monotonic() < deadline:
        assert (first.database.lead(), second.database.lead()) == (True, False)
        time.sleep(SHORT / 20)
    time.sleep(1.2 * SHORT)
    assert second.database.lead()
    # A heartbeat that wakes up too late takes nothing back.
    first.database.keep_leading()
    assert (first.database.lead(), second.database.lead()) == (False, True)


def test_a_heartbeat_keeps_the_lease_during_a_long_plan(
    start: START, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = leader_and_other(start)
    plan = first.planner.plan

    def slow(*arguments: object) -> object:
        deadline = time.monotonic() + 3 * SHORT
        while time.monotonic() < deadline:
            assert not second.database.lead()
            time.sleep(SHORT / 20)
        return plan(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(first.planner, "plan", slow)
    first.database.want_plan(1)
    first.start()
    deadline = time.monotonic() + 60
    while first.view.current.version < 2:
        assert time.monotonic() < deadline, first.planner.trouble
        time.sleep(SHORT / 20)
    first.stop()


@pytest.mark.parametrize("published", [False, True])
def test_a_planner_whose_lease_was_taken_publishes_nothing(
    start: START, monkeypatch: pytest.MonkeyPatch, published: bool
) -> None:
    """Whether or not the one that took it has published something already."""
    first, second = leader_and_other(start)
    plan = first.planner.plan

    def asleep(*arguments: object) -> object:
        time.sleep(1.5 * SHORT)
        assert second.database.lead()
        if published:
            second.planner.step()
        # The threads of a process that wakes up run in any order.
        first.heartbeat.step()
        return plan(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(first.planner, "plan", asleep)
    first.database.want_plan(1)
    with pytest.raises(DelayedError, match="another server plans now"):
        first.planner.step()
    assert first.database.state().version == 1 + published
    first.planner.step()
    second.planner.step()
    assert second.view.current.version == 2


def test_a_plan_that_is_overdue_is_told_of(database: str, monkeypatch: pytest.MonkeyPatch) -> None:
    deployment = Deployment.from_toml(tomllib.loads(LEARNING))
    service = Service(ServiceSettings(deployment, database))
    service.prepare()

    def told() -> tuple[str, float]:
        service.board.refresh()
        (gauge,) = (
            one for one in gauges(service, None) if one.name == "ldprl_plan_overdue_seconds"
        )
        answer = asyncio.run(Routes(service).health(None))  # type: ignore[arg-type]
        return json.loads(bytes(answer.body))["status"], gauge.value

    reports = admitted(service, 20)
    service.database.commit(reports[:19], {})
    assert told() == ("ok", 0.0)
    service.database.commit(reports[19:], {})
    assert told()[0] == "ok"
    monkeypatch.setattr(board_module, "_OVERDUE", 1.0)
    time.sleep(1.2)
    status, seconds = told()
    assert status == "plan-overdue"
    assert seconds > 1
    # The next version is due from when it is, although this server has not seen a moment between.
    service.planner.step()
    service.database.want_plan(2)
    # A busy machine may take longer than a second from here to there.
    monkeypatch.setattr(board_module, "_OVERDUE", 60.0)
    told()
    # The gauge has milliseconds.
    time.sleep(0.01)
    status, seconds = told()
    assert status == "ok"
    assert 0 < seconds < 60
    service.planner.step()
    assert told() == ("ok", 0.0)
    service.database.close()


def test_a_server_that_is_stopped_plans_no_more(
    start_server: StartServer, postgres: Postgres
) -> None:
    """SIGSTOP, as a machine without power looks to the others: its sessions stay."""
    database, short = postgres.database(), {"program": SHORT_LEASE}
    first, second = (start_server(DEPLOYMENT, database, **short) for _ in range(2))
    first.process.send_signal(signal.SIGSTOP)
    stopped = time.monotonic()
    assert second.admin("POST", "/v1/admin/publish").json["version"] == 2
    assert time.monotonic() - stopped < 15
    first.process.send_signal(signal.SIGCONT)
    for version in (3, 4):
        assert first.admin("POST", "/v1/admin/publish").json["version"] == version
    assert (made(first), made(second)) == ([1], [2, 3, 4])


@pytest.mark.slow
def test_within_half_a_minute_another_server_plans(
    start_server: StartServer, postgres: Postgres
) -> None:
    """Under load the stopped server also holds the sums that it was adding to."""
    database = postgres.database()
    first, second = (start_server(UNDER_LOAD, database) for _ in range(2))
    with Load(first.url, second.url) as load:
        wait_for(lambda: len(made(first)) > 1, first)
        assert made(second) == []
        first.process.send_signal(signal.SIGSTOP)
        stopped = time.monotonic()
        load.urls = [second.url]
        wait_for(lambda: bool(made(second)), second)
        took = time.monotonic() - stopped
        first.process.send_signal(signal.SIGCONT)
        load.urls = [first.url, second.url]
        before = len(made(second))
        wait_for(lambda: len(made(second)) > before + 1, second)
    assert took < 30
    assert load.faults(second) == {}
    plans = second.admin("GET", "/v1/admin/export").json["plans"]
    versions = [plan["version"] for plan in plans]
    assert versions == list(range(1, len(versions) + 1)) == sorted(made(first) + made(second))


def wait_for(condition: Callable[[], bool], server: Server) -> None:
    deadline = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < deadline, server.errors()
        time.sleep(0.05)
