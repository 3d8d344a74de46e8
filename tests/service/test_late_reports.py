"""Outcomes that arrive months later: planning continues, nothing is lost, nothing piles up."""

from __future__ import annotations

import tomllib
from collections import Counter, defaultdict
from pathlib import Path

import numpy as np
import pytest

from ldprl.protocol.deployment import Deployment
from ldprl.service.causes import RejectionError
from ldprl.service.intake import Report
from ldprl.service.service import Service
from ldprl.service.settings import ServiceSettings

from .conftest import DEPLOYMENT
from .server import some_values
from .test_planner import Clock

WINDOW = 90
LATE = DEPLOYMENT.replace("1000000", "100") + f"report_window_hours = {24 * WINDOW}\n"
LATE += 'epochs = "every:100"\n'


def drawn(service: Service, rng: np.random.Generator) -> Report:
    """Return the report of a user who is given a policy now."""
    published, report_id = service.view.current, rng.bytes(16).hex()
    index = published.drawn(report_id, service.database.secret)
    values = some_values(published.codecs[index])
    return Report(report_id, service.deployment.digest, published.version, index, values)


@pytest.mark.parametrize("kind", ["sqlite", pytest.param("postgresql", marks=pytest.mark.slow)])
def test_reports_of_ninety_days_ago_count_and_planning_does_not_wait(
    kind: str, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    """Twenty users a day for 200 days; their outcomes are known after 0 to 89 days."""
    address = f"sqlite:///{tmp_path}/late.sqlite"
    if kind == "postgresql":
        address = request.getfixturevalue("postgres").database()
    clock, rng = Clock(), np.random.default_rng(3)
    service = Service(ServiceSettings(Deployment.from_toml(tomllib.loads(LATE)), address), clock)
    service.prepare()
    due: defaultdict[int, list[Report]] = defaultdict(list)
    sent: Counter[int] = Counter()
    waited, open_versions = [], []
    for day in range(200):
        clock.hours += 24
        for _ in range(20):
            due[day + int(rng.integers(WINDOW))].append(drawn(service, rng))
        reports = due.pop(day, [])
        admitted = [service.intake._admit(one, service.view) for one in reports]
        assert set(service.database.commit(admitted, {})) <= {"counted"}
        sent.update(one.version for one in reports)
        service.planner.step()
        current = service.view.current.version
        waited += [current - one.version for one in reports]
        open_versions.append(current - service.database.state().forgotten)
    users = service.database.state().users
    assert users == 200 * 20 - sum(map(len, due.values()))
    by_version: Counter[int] = Counter()
    for one in service.database.sums():
        by_version[one.version] += one.users
    assert +by_version == sent
    # A plan for every hundred reports that have arrived, or one day later.
    assert current > users // 120
    assert max(waited) > 10
    # Ids and policies are kept for open versions only: in 90 days there are 18 of them.
    assert max(open_versions) <= 22
    late = due[205][0]
    clock.hours += 24 * (WINDOW + 10)
    service.planner.step()
    with pytest.raises(RejectionError, match="expired-version"):
        service.intake._admit(late, service.view)
    service.database.close()
