"""One deployment a database; disks that fill and databases that go away lose nothing."""

from __future__ import annotations

import asyncio
import json
import threading
import time
import tomllib
from pathlib import Path

import numpy as np
import pytest

from ldprl.errors import InputError
from ldprl.protocol.deployment import Deployment
from ldprl.service.causes import DelayedError
from ldprl.service.database import open_database
from ldprl.service.database.protocol import Admitted, Verdict
from ldprl.service.database.seen_ids import SeenIds
from ldprl.service.database.sqlite import SqliteDatabase
from ldprl.service.service import Service
from ldprl.service.settings import ServiceSettings

from ..cluster import Postgres
from ..conftest import DEPLOYMENT, StartServer
from ..server import some_values


def deployment(**changes: object) -> Deployment:
    return Deployment.from_toml(tomllib.loads(DEPLOYMENT) | changes)


def reports(service: Service, first: int, count: int) -> list[Admitted]:
    allowed = service.view.current.codecs[0]
    items = some_values(allowed)
    return [
        Admitted(number.to_bytes(16, "big"), 1, 0, allowed, items)
        for number in range(first, first + count)
    ]


def opened(database: str) -> Service:
    service = Service(ServiceSettings(deployment(), database))
    service.prepare()
    return service


@pytest.mark.parametrize(
    ("changes", "named"),
    [
        ({"epsilon": "0.6"}, "epsilon"),
        ({"states": 4}, "shape.states"),
        ({"learner": "ldp-ts"}, "learner"),
        ({"mechanism": "laplace"}, "mechanism"),
        ({"report_window_hours": 24}, "report_window_hours"),
        ({"labels": {"title": "Other"}}, "labels.title"),
        ({"name": "other"}, "name"),
    ],
)
def test_a_deployment_is_frozen(database: str, changes: dict[str, object], named: str) -> None:
    open_database(database, deployment()).close()
    with pytest.raises(InputError) as caught:
        open_database(database, deployment(**changes))
    assert caught.value.field == named
    open_database(database, deployment()).close()


@pytest.mark.parametrize("url", ["", "mysql://x/y", "sqlite://", "sqlite:x", "postgresql:x"])
def test_other_databases_are_refused(url: str) -> None:
    with pytest.raises(InputError, match="database"):
        open_database(url, deployment())


def test_passwords_are_not_shown() -> None:
    with pytest.raises(InputError) as caught:
        open_database("mysql://someone:hunter2@x/y", deployment())
    assert "hunter2" not in str(caught.value)


def test_a_second_server_on_one_file_is_refused(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/one.sqlite"
    first = open_database(url, deployment())
    with pytest.raises(InputError, match="postgresql"):
        open_database(url, deployment())
    first.close()
    open_database(url, deployment()).close()


def test_a_full_disk_loses_nothing_and_passes(tmp_path: Path) -> None:
    service = opened(f"sqlite:///{tmp_path}/full.sqlite")
    database = service.database
    assert isinstance(database, SqliteDatabase)
    database.commit(reports(service, 0, 10), {})
    pages = database._writer.execute("PRAGMA page_count").fetchone()[0]
    database._writer.execute(f"PRAGMA max_page_count = {pages + 5}")
    before = database.state()
    with pytest.raises(DelayedError, match="storage-full") as caught:
        database.commit(reports(service, 10, 4000), {"malformed": 1})
    assert caught.value.status == 507
    assert database.state() == before
    database._writer.execute("PRAGMA max_page_count = 1000000")
    assert database.commit(reports(service, 0, 4010), {}) == ["duplicate"] * 10 + ["counted"] * 4000
    assert database.state().users == 4010
    database.close()
    again = opened(f"sqlite:///{tmp_path}/full.sqlite")
    assert again.database.state().users == 4010
    assert again.database.commit(reports(service, 0, 4011), {}) == ["duplicate"] * 4010 + [
        "counted"
    ]
    again.database.close()


def test_known_ids_are_a_set_however_they_are_packed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Against plain sets, with ids that end in zero bytes and several rounds of packing."""
    monkeypatch.setattr("ldprl.service.database.seen_ids._PACKED_AT", 256)
    rng = np.random.default_rng(0)
    known, expected, before = SeenIds(), {v: set[bytes]() for v in range(1, 5)}, list[bytes]()
    for round in range(40):
        version = round % 4 + 1
        # Some ids come under several versions, each of which has its own.
        ids = [*(rng.bytes(14) + bytes(2) for _ in range(90)), *before[:: len(before) // 9 + 1]]
        asked = [*ids, *before[:: len(before) // 50 + 1]]
        for _ in range(2):
            for one, of in expected.items():
                assert known.among(asked, one) == set(asked) & of
            assert known.among(asked) == set(asked) & set().union(*expected.values())
            known.add(version, ids)
            expected[version].update(ids)
        before += ids
    known.forget(2)
    assert known.among(before) == expected[3] | expected[4]
    assert not known.among(before, 2)


def under(version: int, report: Admitted) -> Admitted:
    return report._replace(version=version)


def test_an_id_counts_once_under_each_version(database: str) -> None:
    """Whoever makes ids may make as many as they like; forgetting one version leaves the other."""
    service = opened(database)
    service.database.want_plan(1)
    service.planner.step()
    (report,) = reports(service, 0, 1)
    both = [under(2, report), under(1, report), under(2, report)]
    assert service.database.commit(both, {}) == ["counted", "counted", "duplicate"]
    assert service.database.commit(both, {}) == ["duplicate"] * 3
    service.database.forget(1)
    assert service.database.commit(both[:2], {}) == ["duplicate", "expired-version"]
    assert service.database.state().users == 2
    service.database.close()


def test_a_forgotten_version_stays_closed_when_the_clock_goes_back(database: str) -> None:
    hours = [1000.0]
    service = Service(ServiceSettings(deployment(), database), lambda: 3600 * hours[0])
    service.prepare()
    counted = reports(service, 0, 1)
    assert service.database.commit(counted, {}) == ["counted"]
    service.database.want_plan(1)
    service.planner.step()
    hours[0] += 10_000
    service.planner.step()
    assert service.database.state().forgotten == 1
    hours[0] = 1000.5
    service.planner.step()
    service.database.forget(0)
    assert service.board.refresh().forgotten == 1
    assert service.view.first_open == 2
    assert service.database.commit(counted, {}) == ["expired-version"]
    service.database.close()
    again = opened(database)
    assert again.view.first_open == 2
    assert again.database.commit(counted, {}) == ["expired-version"]
    assert again.database.state().users == 1
    again.database.close()


def test_a_version_that_one_server_forgot_is_closed_on_another(postgres: Postgres) -> None:
    """The second server's clock is hours behind, and its view is old."""
    url = postgres.database()
    hours = [1000.0]
    ahead = Service(ServiceSettings(deployment(), url), lambda: 3600 * hours[0])
    ahead.prepare()
    counted = reports(ahead, 0, 1)
    ahead.database.commit(counted, {})
    ahead.database.want_plan(1)
    ahead.planner.step()
    behind = Service(ServiceSettings(deployment(), url), lambda: 3600 * 1000.0)
    behind.prepare()
    hours[0] += 10_000
    ahead.planner.step()
    assert 1 in behind.view.open
    assert behind.database.commit(counted, {}) == ["expired-version"]
    name = counted[0].id.hex()
    index = behind.view.open[1].drawn(name, behind.database.secret)
    values = some_values(behind.view.open[1].codecs[index])
    place = {"deployment": behind.deployment.digest, "version": 1, "assignment": index}
    body = json.dumps({"id": name, **place, "values": values})
    behind.committer.start()
    status, content = asyncio.run(behind.intake.take(body.encode()))
    assert (status, json.loads(content)["cause"]) == (410, "expired-version")
    assert behind.database.state().users == 1
    behind.committer.close()
    for server in (ahead, behind):
        server.database.close()


def test_several_servers_add_to_the_same_sums(postgres: Postgres) -> None:
    """Two stores count overlapping reports at once: every id once, whoever came first."""
    url = postgres.database()
    services = [opened(url), opened(url)]
    outcomes: list[list[Verdict]] = []

    def count(service: Service) -> None:
        for start in range(0, 2000, 50):
            outcomes.append(service.database.commit(reports(service, start, 100), {}))

    threads = [threading.Thread(target=count, args=(service,)) for service in services]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    total = 2050
    assert sum(one.count("counted") for one in outcomes) == total
    one = services[0].database.sums()[0]
    assert (one.users, int(one.tally[0])) == (total, total)
    for service in services:
        service.database.close()


def test_one_server_plans_and_another_takes_over(postgres: Postgres) -> None:
    url = postgres.database()
    first, second = opened(url), opened(url)
    assert [first.database.lead(), second.database.lead()] == [True, False]
    first.database.want_plan(1)
    second.planner.step()
    assert second.database.state().version == 1
    first.database.close()
    # At once, and not when the lease of 20 seconds has ended.
    deadline = time.monotonic() + 10
    while not second.database.lead():
        assert time.monotonic() < deadline
        time.sleep(0.05)
    second.planner.step()
    assert second.view.current.version == 2
    second.database.close()


def test_a_database_that_goes_away_comes_back(start_server: StartServer) -> None:
    cluster = Postgres.create()
    try:
        server = start_server(DEPLOYMENT, cluster.database())
        kept, lost = server.report(), server.report()
        assert server.post("/v1/reports", kept).json["status"] == "counted"
        cluster.stop()
        answer = server.post("/v1/reports", lost)
        assert (answer.status, answer.json["cause"]) == (503, "database-down")
        assert int(answer.headers["retry-after"]) > 0
        deadline = time.monotonic() + 60
        while server.get("/healthz").status == 200:
            assert time.monotonic() < deadline
            time.sleep(0.1)
        assert server.get("/v1/status").json["cause"] == "database-down"
        assert server.get("/v1/policy").status == 200
        cluster.start()
        while server.post("/v1/reports", lost).status != 200:
            assert time.monotonic() < deadline + 60
            time.sleep(0.1)
        results = server.post("/v1/reports", [kept, lost]).json["results"]
        assert [result["status"] for result in results] == ["duplicate", "duplicate"]
        # What reads has a session of its own, which may come back a moment later.
        while server.get("/v1/status").status != 200:
            assert time.monotonic() < deadline + 120
            time.sleep(0.1)
        assert server.users() == 2
    finally:
        cluster.remove()
