"""Certificates of a service: its acknowledged answers and nothing else, whatever happens to it."""

from __future__ import annotations

import json
import random
import secrets
import time
import tomllib
from collections import Counter
from http.client import HTTPException
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ldprl.errors import InputError
from ldprl.protocol.deployment import Deployment
from ldprl.protocol.messages import Issued, report_document
from ldprl.service.certificate import certify_export
from ldprl.service.database.protocol import Admitted
from ldprl.service.gauges import gauges
from ldprl.service.intake import Report
from ldprl.service.service import Service
from ldprl.service.settings import Settings, read_deployment
from ldprl.service.view_data import certificate, export

from .cluster import Postgres
from .conftest import DEPLOYMENT, StartServer
from .server import Server, some_values

CERTIFIED = (
    DEPLOYMENT.replace("1000000", "40")
    + """
[structure]
incumbent = [0, 1, 0]
[certificate]
share = "0.5"
confidence = "0.9"
"""
)


def opened(database: str, deployment: str = CERTIFIED) -> Service:
    made = Service(Settings(Deployment.from_toml(tomllib.loads(deployment)), database))
    made.prepare()
    return made


def some_reports(
    service: Service, count: int, rng: np.random.Generator, ones: float = 0.5
) -> list[Admitted]:
    """Return reports under the plan in force; bits about its worth are 1 with chance ``ones``."""
    edition, result = service.view.current, []
    for _ in range(count):
        report_id = rng.bytes(16).hex()
        index, _ = edition.drawn(report_id, service.database.secret)
        letters = edition.alphabets[index]
        values = sorted(rng.choice(letters.length, len(some_values(letters)), False).tolist())
        if edition.plan[index].questions[0].kind == "worth":
            values = [int(rng.random() < ones)]
        report = Report(report_id, service.deployment.digest, edition.version, index, values)
        result.append(service.intake._admit(report, service.view))
    return result


def test_it_counts_the_answers_under_each_policy_across_restarts(database: str) -> None:
    """Five versions, each served by another process; the answers are added up by hand beside."""
    rng, expected = np.random.default_rng(4), Counter[bytes]()
    ones = Counter[bytes]()
    for _ in range(5):
        service = opened(database)
        plan = service.view.current.plan
        reports = some_reports(service, 60, rng)
        service.database.commit(reports, {})
        for report in reports:
            assignment = plan[report.assignment]
            if assignment.questions[0].kind == "worth":
                expected[assignment.policy.tobytes()] += 1
                ones[assignment.policy.tobytes()] += int(report.values[0])
        service.planner.step()
        service.database.close()
    service = opened(database)
    evidence = service.decoder.evidence(service.database.sums())
    assert evidence is not None
    known = [*evidence.policies, np.array([[0, 1, 0]] * 3)]
    bits = [*evidence.bits, evidence.incumbent]
    found = {one.tobytes(): (told.users, told.ones) for one, told in zip(known, bits, strict=True)}
    assert {key: value for key, value in found.items() if value[0]} == {
        key: (users, ones[key]) for key, users in expected.items()
    }
    told = certificate(service)
    assert told is not None
    assert [one["users"] for one in told["policies"]] == [one.users for one in evidence.bits]
    assert json.loads(json.dumps(told)) == certify_export(json.loads(json.dumps(export(service))))
    service.database.close()


def test_a_change_is_noticed_and_told_everywhere(tmp_path: Path, caplog: Any) -> None:
    """Returns fall from 3 to 0; the incumbent has a quarter of 800 answers before and after.

    Each version is served by another process, which reads all from the database.
    """
    rng, database = np.random.default_rng(5), f"sqlite:///{tmp_path}/one.sqlite"
    watched = CERTIFIED.replace("= 40", "= 800") + 'alarm = "0.01"\n'
    keep = np.exp(0.5) / (1 + np.exp(0.5))
    seen = []
    for ones in (keep, keep, 1 - keep, 1 - keep):
        service = opened(database, watched)
        service.database.commit(some_reports(service, 800, rng, ones), {})
        service.planner.step()
        told = certificate(service)
        assert told is not None
        seen.append(told["change"])
        service.database.close()
    assert seen[:2] == [None, None]
    assert seen[3]["since"] == 1600
    assert seen[3]["policy"] is None
    assert seen[3]["before"] - seen[3]["after"] > 2
    assert "the world seems to have changed since about user 1600" in caplog.text
    service = opened(database, watched)
    assert certificate(service) == told
    assert json.loads(json.dumps(told)) == certify_export(json.loads(json.dumps(export(service))))
    metrics = gauges(service, {"progress": None, "certificate": told})
    assert (metrics[-1].name, metrics[-1].value) == ("ldprl_world_changed", 1)
    service.database.close()


def test_the_call_is_there_only_with_a_certificate(
    start_server: StartServer, tmp_path: Path, server: Server
) -> None:
    assert server.get("/v1/certificate").status == 404
    certified = start_server(CERTIFIED, f"sqlite:///{tmp_path}/one.sqlite")
    answer = certified.get("/v1/certificate")
    assert answer.status == 200
    assert answer.json["incumbent"]["worth"] == {"low": 0.0, "high": 3.0}
    assert answer.json["confidence"] == 0.9


def test_the_incumbent_lies_in_a_file_beside_the_deployment(tmp_path: Path) -> None:
    file = tmp_path / "clinic.toml"
    file.write_text(CERTIFIED.replace("[0, 1, 0]", '"incumbent.json"'), encoding="utf-8")
    with pytest.raises(InputError, match=r"^structure.incumbent = .*No such file"):
        read_deployment(file)
    beside = tmp_path / "incumbent.json"
    beside.write_text("[0, 1, 0", encoding="utf-8")
    with pytest.raises(InputError, match=r"^structure.incumbent = .*valid JSON"):
        read_deployment(file)
    beside.write_text("[0, 1, 0]", encoding="utf-8")
    assert read_deployment(file).digest == Deployment.from_toml(tomllib.loads(CERTIFIED)).digest


@pytest.mark.parametrize("broken", [None, [], {"deployment": {}}, {"plans": 3}])
def test_an_export_that_is_none_is_refused(broken: object) -> None:
    with pytest.raises(InputError):
        certify_export(broken)


@pytest.mark.slow
def test_kills_and_a_crash_of_the_database_leave_it_as_if_they_had_not_happened(
    start_server: StartServer, postgres: Postgres
) -> None:
    """Every report is sent until it is acknowledged, with the same id; then all are added up."""
    rng, database = random.Random(0), postgres.database()
    server = start_server(CERTIFIED, database)
    deployment, answered = server.deployment(), Counter[bytes]()
    for number in range(150):
        if number in (40, 80, 120):
            server.kill()
            server = start_server(CERTIFIED, database)
        if number == 100:
            postgres.stop("immediate")
            postgres.start()
        report_id = secrets.token_hex(16)
        issued = Issued.from_document(asked(server, f"/v1/policy?id={report_id}"), deployment)
        letters = deployment.built.alphabet(issued.assignment)
        values = sorted(rng.sample(range(letters.length), len(some_values(letters))))
        sent = report_document(report_id, issued, values)
        # A second time, as a client does whose answer was lost.
        for _ in range(1 + (number % 7 == 0)):
            while server.post("/v1/reports", sent).status != 200:
                time.sleep(0.1)
        if issued.assignment.questions[0].kind == "worth":
            answered[issued.assignment.policy.tobytes()] += 1
    # Plans are made from 40, 80 and 120 reports, or soon after; the next one is not due.
    while asked(server, "/v1/status")["version"] != 4:
        time.sleep(0.1)
    time.sleep(2.5)
    told = asked(server, "/v1/certificate")
    counted = [one["users"] for one in told["policies"]] + [told["incumbent"]["users"]]
    assert sorted(filter(None, counted)) == sorted(answered.values())
    assert told == certify_export(server.admin("GET", "/v1/admin/export").json)


def asked(server: Server, path: str) -> dict[str, Any]:
    """Return the answer to a call, however long the database is away."""
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        try:
            answer = server.get(path)
        except (OSError, HTTPException):
            continue
        if answer.status == 200:
            document: dict[str, Any] = answer.json
            return document
        time.sleep(0.1)
    raise AssertionError(server.errors())
