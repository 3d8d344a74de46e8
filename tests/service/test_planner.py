"""Plans: a function of the committed sums, published at once, kept for ever."""

from __future__ import annotations

import time
import tomllib
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ldprl.assignment import Assignment
from ldprl.errors import InputError
from ldprl.policies.linear import Linear
from ldprl.policies.perturbed import Perturbed
from ldprl.protocol.deployment import Deployment
from ldprl.service.causes import RejectionError
from ldprl.service.database.protocol import Admitted
from ldprl.service.gauges import gauges
from ldprl.service.history import History
from ldprl.service.intake import Report
from ldprl.service.planner import Planner
from ldprl.service.plans import plan_text
from ldprl.service.service import Service
from ldprl.service.settings import ServiceSettings
from ldprl.service.statistics import Decoder
from ldprl.service.view_data import dashboard, status
from ldprl.structure import Structure
from ldprl.worlds import riverswim

from .conftest import DEPLOYMENT, StartServer, postgresql_is_slow
from .server import Server, some_values
from .test_return_bits import visited_by

LEARNING = DEPLOYMENT.replace("ldp-obi", "ldp-evi").replace("1000000", "20")


class Clock:
    """A clock that a test moves by hand."""

    def __init__(self) -> None:
        self.hours = 1000.0

    def __call__(self) -> float:
        return self.hours * 3600


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def service(database: str, clock: Clock) -> Iterator[Service]:
    """A service whose threads do not run: the test takes every step itself."""
    deployment = Deployment.from_toml(tomllib.loads(LEARNING))
    made = Service(ServiceSettings(deployment, database), clock)
    made.prepare()
    yield made
    made.database.close()


def admitted(service: Service, count: int, seed: int = 0) -> list[Admitted]:
    """Return reports under the plan in force, with values drawn at random."""
    rng = np.random.default_rng([seed, service.view.current.version])
    published, digest = service.view.current, service.deployment.digest
    result = []
    for _ in range(count):
        report_id = rng.bytes(16).hex()
        index = published.drawn(report_id, service.database.secret)
        allowed = published.codecs[index]
        items = sorted(rng.choice(allowed.length, len(some_values(allowed)), False).tolist())
        report = Report(report_id, digest, published.version, index, items)
        result.append(service.intake._admit(report, service.view))
    return result


def again(service: Service) -> Planner:
    database, deployment = service.database, service.deployment
    decoder = Decoder(database, deployment)
    return Planner(database, deployment, decoder, service.board, service.metrics, lambda: 0.0)


def test_a_plan_is_made_when_the_epoch_ends_and_not_before(service: Service) -> None:
    reports = admitted(service, 20)
    service.database.commit(reports[:19], {})
    service.planner.step()
    assert service.view.current.version == 1
    service.database.commit(reports[19:], {})
    service.planner.step()
    current = service.view.current
    assert (current.version, current.users) == (2, 20)
    assert service.deployment.next_plan_at(20) == 40


def test_plans_hang_on_the_committed_sums_alone(service: Service) -> None:
    """What another process plans from the same database is the plan that was published."""
    service.database.commit(admitted(service, 40), {})
    sums = service.database.sums()
    service.planner.step()
    published = service.database.plans(1)[0]
    other = again(service)
    statistics, digest = other.decoder.read(sums)
    nothing, empty = other.decoder.read([])
    assert published.sums_digest == digest != empty
    assert published.assignments == plan_text(other.plan(statistics, 2))
    assert published.assignments != plan_text(other.plan(nothing, 2))


def test_plans_are_made_from_the_users_that_are_remembered(tmp_path: Path) -> None:
    """Of five versions of 20 users the last two and the one in force count; all are kept."""
    deployment = Deployment.from_toml(tomllib.loads(LEARNING) | {"memory_users": 40})
    address = f"sqlite:///{tmp_path}/recent.sqlite"
    service = Service(ServiceSettings(deployment, address))
    service.prepare()
    for _ in range(5):
        service.database.commit(admitted(service, 20), {})
        service.planner.step()
    assert service.view.current.users == 100
    late = admitted(service, 7)
    service.database.close()
    # Another process, after a crash, plans the same.
    service = Service(ServiceSettings(deployment, address))
    service.prepare()
    sums = service.database.sums()
    statistics, digest = service.decoder.read(sums)
    latest = [one for one in sums if one.version in (4, 5)]
    assert statistics.users == 40
    assert digest == again(service).decoder.read(latest)[1]
    assert service.database.plans(5)[0].sums_digest == digest
    expected = plan_text(again(service).plan(statistics, 6))
    assert service.database.plans(5)[0].assignments == expected
    # A report under a version that is still remembered counts in the next plan.
    service.database.commit(late, {})
    assert service.decoder.statistics(service.database.sums()).users == 47
    assert dashboard(service, History(service))["users"] == 107
    service.database.close()
    # The operator has all forgotten that came before the 80th user.
    service = Service(ServiceSettings(deployment, address, forget_before=80))
    assert service.decoder.statistics(service.database.sums()).users == 27
    service.database.close()


def test_statistics_are_the_sum_of_what_each_report_decodes_to(service: Service) -> None:
    reports = admitted(service, 30)
    service.database.commit(reports, {})
    mechanism, plan = service.deployment.built, service.view.current.plan
    expected = mechanism.no_statistics()
    for report in reports:
        tally = report.codec.total([report.values])
        expected = expected + mechanism.decode(tally, 1, plan[report.assignment])
    found = service.decoder.statistics(service.database.sums())
    assert found.users == 30
    for name in ("rewards", "visits", "transitions", "reports", "arrivals"):
        np.testing.assert_allclose(getattr(found, name), getattr(expected, name), atol=1e-9)


def test_a_replaced_version_expires_after_its_window(service: Service, clock: Clock) -> None:
    first = admitted(service, 20)
    service.database.commit(first, {})
    late = admitted(service, 1, seed=1)[0]
    clock.hours += 0.5
    service.planner.step()
    view = service.view
    report = Report(late.id.hex(), service.deployment.digest, 1, late.assignment, list(late.values))
    # Version 1 was replaced at half past 1000, which is kept as 1001.
    clock.hours = 1001 + service.deployment.report_window_hours - 0.01
    service.planner.step()
    assert service.intake._admit(report, service.view)
    clock.hours += 0.02
    service.planner.step()
    with pytest.raises(RejectionError, match="expired-version"):
        service.intake._admit(report, service.view)
    assert service.view.first_open == 2
    assert service.database.commit(first[:1], {}) == ["duplicate"]
    clock.hours += 1
    service.planner.step()
    assert service.database.state().forgotten == 1
    assert service.database.commit(first[:1], {}) == ["expired-version"]
    assert view.current.version == service.view.current.version == 2


def test_a_failing_learner_does_not_end_the_planner(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    service.database.commit(admitted(service, 20), {})
    plan = service.planner.plan
    calls = []

    def fails_once(*arguments: object) -> object:
        calls.append(arguments)
        if len(calls) == 1:
            raise ArithmeticError
        return plan(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(service.planner, "plan", fails_once)
    service.planner.start()
    deadline = time.monotonic() + 60
    while service.view.current.version < 2 and time.monotonic() < deadline:
        time.sleep(0.02)
    service.planner.stop()
    assert (service.view.current.version, len(calls)) == (2, 2)


RIVER = riverswim(3, 6)
RIGHT = {
    "successors": [[0, 1], [0, 1, 2], [1, 2]],
    "rewards": [["0.005", "0"], ["0", "0"], ["0", "1"]],
}


def knowing(tmp_path: Path, known: dict[str, Any]) -> Service:
    deployment = Deployment(
        "known", RIVER.shape, "12", structure=Structure.from_document(known, RIVER.shape)
    )
    settings = ServiceSettings(
        replace(deployment, first_epoch=500), f"sqlite:///{tmp_path}/known.sqlite"
    )
    made = Service(settings, lambda: 3.6e9)
    made.prepare()
    return made


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({}, None),
        ({"successors": [[1], [0, 1, 2], [1, 2]]}, "state 0 follows state 0 after action 0"),
        ({"rewards": [["0.9", "0"], ["0", "0"], ["0", "1"]]}, "action 0 in state 0 pays 0 to "),
    ],
    ids=["right", "successors", "rewards"],
)
def test_wrong_knowledge_is_said_in_log_status_dashboard_and_metrics(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, wrong: dict[str, Any], said: str | None
) -> None:
    """A confidence set at 10⁻⁶ excludes what is right with that probability at most."""
    service = knowing(tmp_path, RIGHT | wrong)
    assert status(service)["contradictions"] == []
    visited_by(service, RIVER, 500)
    service.planner.step()
    warned = [record.getMessage() for record in caplog.records if record.levelname == "WARNING"]
    shown = dashboard(service, History(service))
    (gauge,) = (one for one in gauges(service, shown) if one.name == "ldprl_contradictions")
    places = [warned, status(service)["contradictions"], shown["contradictions"]]
    for lines in places:
        assert any(said in line for line in lines) if said else lines == []
    assert (gauge.value > 0) == (said is not None)
    # A server that did not make the plan says the same.
    assert again(service).contradicted(2) == places[1]
    service.database.close()


def test_a_plan_with_an_inadmissible_action_never_comes_into_force(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    service = knowing(tmp_path, {"admissible": [[0, 1], [1], [1]]})
    table = np.array([[0, 1, 1]] * 5 + [[0, 0, 1]])
    monkeypatch.setattr(service.planner._learner, "plan", lambda *_: (Assignment(table),))
    with pytest.raises(InputError, match=r"policy\[5, 1\] = 0: expected an admissible .* 1: 1$"):
        service.planner.plan(service.deployment.built.no_statistics(), 2)
    service.database.close()


@postgresql_is_slow
def test_a_restart_serves_the_same_plans(start_server: StartServer, database: str) -> None:
    learning = DEPLOYMENT.replace("1000000", "20")
    first = start_server(learning, database)
    for _ in range(20):
        assert first.post("/v1/reports", first.report()).status == 200
    wait_for_version(first, 2)
    paths = ["/v1/policy", "/v1/policy/1/0", "/v1/policy/2/0", "/v1/policy?id=" + "0" * 32]
    before = [first.get(path).body for path in paths]
    first.kill()
    second = start_server(learning, database)
    assert [second.get(path).body for path in paths] == before
    cached = second.get("/v1/policy/1/0").headers["cache-control"]
    assert "immutable" in cached


def wait_for_version(server: Server, version: int) -> None:
    deadline = time.monotonic() + 60
    while server.get("/v1/status").json["version"] < version:
        assert time.monotonic() < deadline
        time.sleep(0.05)


def test_assignments_come_in_their_shares(tmp_path: Path) -> None:
    """Of 4,000 ids, each assignment gets its share ± 6 standard deviations (type-I < 1e-7)."""
    deployment = Deployment.from_toml(tomllib.loads(DEPLOYMENT))
    service = Service(ServiceSettings(deployment, f"sqlite:///{tmp_path}/shares.sqlite"))
    service.prepare()
    current, secret = service.view.current, service.database.secret
    drawn = [current.drawn(f"{number:032x}", secret) for number in range(4000)]
    for index, one in enumerate(current.plan):
        spread = 6 * np.sqrt(4000 * one.share * (1 - one.share))
        assert abs(drawn.count(index) - 4000 * one.share) <= spread
    service.database.close()


def test_plans_of_two_deployments_have_randomness_of_their_own() -> None:
    """And the same deployment's version the same, wherever it is planned."""
    problem, nothing = Linear(features=("x",), actions=("a", "b"), horizon=2, returns=(0, 1)), None

    def seed(name: str, version: int) -> str:
        parts: list[Any] = [nothing, Deployment(name, problem, "1"), *[nothing] * 4]
        planner = Planner(*parts)
        (one,) = planner.plan(parts[1].built.no_statistics(), version)
        assert isinstance(one.policies, Perturbed)
        return one.policies.seed

    assert seed("here", 1) == seed("here", 1)
    assert len({seed("here", 1), seed("here", 2), seed("there", 1)}) == 3
