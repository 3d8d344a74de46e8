"""One deployment a database; disks that fill and databases that go away lose nothing."""

from __future__ import annotations

import threading
import time
import tomllib
from pathlib import Path

import numpy as np
import pytest

from ldprl.errors import InputError
from ldprl.protocol.deployment import Deployment
from ldprl.service.causes import DelayedError
from ldprl.service.service import Service
from ldprl.service.settings import Settings
from ldprl.service.store import open_store
from ldprl.service.store.known import KnownIds
from ldprl.service.store.protocol import Admitted
from ldprl.service.store.sqlite import SqliteStore

from .conftest import DEPLOYMENT, StartServer
from .database import Postgres
from .server import some_values


def deployment(**changes: object) -> Deployment:
    return Deployment.from_toml(tomllib.loads(DEPLOYMENT) | changes)


def reports(service: Service, first: int, count: int) -> list[Admitted]:
    allowed = service.view.current.alphabets[0]
    items = some_values(allowed)
    return [
        Admitted(number.to_bytes(16, "big"), 1, 0, allowed, items)
        for number in range(first, first + count)
    ]


def opened(database: str) -> Service:
    service = Service(Settings(deployment(), database))
    service.prepare()
    return service


@pytest.mark.parametrize(
    ("changes", "named"),
    [
        ({"epsilon": "0.6"}, "epsilon"),
        ({"states": 4}, "shape.states"),
        ({"learner": "ldp-obi"}, "learner"),
        ({"mechanism": "laplace"}, "mechanism"),
        ({"report_window_hours": 24}, "report_window_hours"),
        ({"labels": {"title": "Other"}}, "labels.title"),
        ({"name": "other"}, "name"),
    ],
)
def test_a_deployment_is_frozen(database: str, changes: dict[str, object], named: str) -> None:
    open_store(database, deployment()).close()
    with pytest.raises(InputError) as caught:
        open_store(database, deployment(**changes))
    assert caught.value.field == named
    open_store(database, deployment()).close()


@pytest.mark.parametrize("url", ["", "mysql://x/y", "sqlite://", "sqlite:x", "postgresql:x"])
def test_other_databases_are_refused(url: str) -> None:
    with pytest.raises(InputError, match="database"):
        open_store(url, deployment())


def test_passwords_are_not_shown() -> None:
    with pytest.raises(InputError) as caught:
        open_store("mysql://someone:hunter2@x/y", deployment())
    assert "hunter2" not in str(caught.value)


def test_a_second_server_on_one_file_is_refused(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/one.sqlite"
    first = open_store(url, deployment())
    with pytest.raises(InputError, match="postgresql"):
        open_store(url, deployment())
    first.close()
    open_store(url, deployment()).close()


def test_a_full_disk_loses_nothing_and_passes(tmp_path: Path) -> None:
    service = opened(f"sqlite:///{tmp_path}/full.sqlite")
    store = service.store
    assert isinstance(store, SqliteStore)
    store.commit(reports(service, 0, 10), {})
    pages = store._writer.execute("PRAGMA page_count").fetchone()[0]
    store._writer.execute(f"PRAGMA max_page_count = {pages + 5}")
    before = store.totals()
    with pytest.raises(DelayedError, match="storage-full") as caught:
        store.commit(reports(service, 10, 4000), {"malformed": 1})
    assert caught.value.status == 507
    assert store.totals() == before
    store._writer.execute("PRAGMA max_page_count = 1000000")
    assert store.commit(reports(service, 0, 4010), {}) == [False] * 10 + [True] * 4000
    assert store.totals().users == 4010
    store.close()
    again = opened(f"sqlite:///{tmp_path}/full.sqlite")
    assert again.store.totals().users == 4010
    assert again.store.commit(reports(service, 0, 4011), {}) == [False] * 4010 + [True]


def test_known_ids_are_a_set_however_they_are_packed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Against a plain dict, with ids that end in zero bytes and several rounds of packing."""
    monkeypatch.setattr("ldprl.service.store.known._PACKED_AT", 256)
    rng = np.random.default_rng(0)
    known, expected = KnownIds(), dict[bytes, int]()
    for version in range(1, 9):
        for _ in range(5):
            ids = [rng.bytes(14) + bytes(2) for _ in range(90)]
            asked = [*ids[:50], *list(expected)[:: len(expected) // 50 + 1]]
            assert known.among(asked) == set(asked) & expected.keys()
            known.add(version, ids)
            expected |= dict.fromkeys(ids, version)
            assert known.among(asked) == set(asked) & expected.keys()
    known.forget(4)
    kept = {one for one, version in expected.items() if version > 4}
    assert known.among(list(expected)) == kept


def test_several_servers_add_to_the_same_sums(postgres: Postgres) -> None:
    """Two stores count overlapping reports at once: every id once, whoever came first."""
    url = postgres.database()
    services = [opened(url), opened(url)]
    outcomes: list[list[bool]] = []

    def count(service: Service) -> None:
        for start in range(0, 2000, 50):
            outcomes.append(service.store.commit(reports(service, start, 100), {}))

    threads = [threading.Thread(target=count, args=(service,)) for service in services]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    total = 2050
    assert sum(map(sum, outcomes)) == total
    one = services[0].store.sums()[0]
    assert (one.users, int(one.tally[0])) == (total, total)


def test_one_server_plans_and_another_takes_over(postgres: Postgres) -> None:
    url = postgres.database()
    first, second = opened(url), opened(url)
    assert [first.store.lead(), second.store.lead()] == [True, False]
    first.store.want_plan(1)
    second.planner.step()
    assert second.store.totals().version == 1
    first.store.close()
    deadline = time.monotonic() + 5
    while not second.store.lead() and time.monotonic() < deadline:
        time.sleep(0.05)
    second.planner.step()
    assert second.view.current.version == 2


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
        deadline = time.monotonic() + 10
        while server.get("/healthz").status == 200:
            assert time.monotonic() < deadline
            time.sleep(0.1)
        assert server.get("/v1/status").json["cause"] == "database-down"
        assert server.get("/v1/policy").status == 200
        cluster.start()
        while server.post("/v1/reports", lost).status != 200:
            assert time.monotonic() < deadline + 10
            time.sleep(0.1)
        results = server.post("/v1/reports", [kept, lost]).json["results"]
        assert [result["status"] for result in results] == ["duplicate", "duplicate"]
        assert server.users() == 2
    finally:
        cluster.remove()
