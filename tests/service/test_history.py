"""The history: a function of plans and sums, spread over the logarithm of the users."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from ldprl.protocol.deployment import Deployment
from ldprl.service.history import History
from ldprl.service.service import Service
from ldprl.service.settings import ServiceSettings

from .test_certificate import CERTIFIED, some_reports


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """Six versions, each of 60 reports; no thread runs."""
    folder: Path = tmp_path_factory.mktemp("history")
    deployment = Deployment.from_toml(tomllib.loads(CERTIFIED))
    with pytest.MonkeyPatch.context() as patch:
        # The secret decides who answers for certificates: by chance nobody did in three versions.
        patch.setattr("secrets.token_bytes", bytes)
        made = Service(ServiceSettings(deployment, f"sqlite:///{folder}/test.sqlite"))
    made.prepare()
    rng = np.random.default_rng(4)
    for _ in range(6):
        made.database.commit(some_reports(made, 60, rng), {})
        made.planner.step()
    yield made
    made.database.close()


def test_each_point_is_what_the_reports_up_to_its_version_say(service: Service) -> None:
    sums = service.database.sums()
    points = History(service).points(sums)
    assert [point["users"] for point in points] == [60, 120, 180, 240, 300, 360]
    for point in points:
        assert 0 <= point["settled"] <= 1
        assert point["loss"] >= 0
    # What is certified of the policy of the third version, from the answers up to it.
    some = [one for one in sums if one.version <= 3]
    evidence = service.decoder.evidence(some, until=3)
    assert evidence is not None
    assert evidence.current is not None
    worth = evidence.certificate(evidence.current).worth
    assert points[2]["certified"] == {"low": worth.low, "high": worth.high}


def test_it_is_the_same_for_another_server_and_computed_once(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    sums = service.database.sums()
    history = History(service)
    points = history.points(sums)
    assert History(service).points(sums) == points
    monkeypatch.setattr(History, "_point", None)
    assert history.points(sums) == points


def test_before_the_first_report_there_is_none(service: Service) -> None:
    assert History(service).points([]) == []
