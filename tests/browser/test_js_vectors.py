"""The shared vectors are what Python makes of their bytes."""

from __future__ import annotations

import json
from typing import Any

import pytest

from ldprl import InputError, Trajectory
from ldprl.conformance.replayed import ReplayedSourceForTests
from ldprl.mechanisms.total import Total
from ldprl.protocol.deployment import Deployment, digest_of
from ldprl.protocol.messages import Issued
from tests.browser.make_vectors import VECTORS, text

READ = json.loads(VECTORS.read_text(encoding="utf-8"))
CASES = READ["deployments"]


def test_the_file_is_up_to_date() -> None:
    # No assert: a comparison of the two texts would be thousands of lines.
    if VECTORS.read_text(encoding="utf-8") != text():
        pytest.fail("python -m tests.browser.make_vectors writes another file")


@pytest.mark.parametrize("case", CASES, ids=lambda case: str(case["document"]["name"]))
def test_python_makes_the_same_reports(case: dict[str, Any]) -> None:
    deployment = Deployment.from_document(case["document"])
    assert deployment.digest == digest_of(case["document"]) == case["digest"]
    for report in case["reports"]:
        number = report["assignment"].get("number")
        assignment = Issued.from_document(report["assignment"], deployment, number).assignment
        source = ReplayedSourceForTests(bytes.fromhex(report["bytes"]))
        data = Total(report["total"]) if "total" in report else Trajectory(**report["trajectory"])
        drawn = deployment.built.privatize(data, assignment, source)
        values = deployment.built.codec(assignment)
        assert values.write(drawn) == report["values"]
        assert source.used == len(source.content)
        values.read(report["values"])


def test_python_refuses_the_same_assignments() -> None:
    deployment = Deployment.from_document(READ["refusals"]["document"])
    for case in READ["refusals"]["assignments"]:
        if case["field"] is None:
            Issued.from_document(case["assignment"], deployment, case["number"])
            continue
        with pytest.raises(InputError) as refused:
            Issued.from_document(case["assignment"], deployment, case["number"])
        found = refused.value
        assert [found.field, found.value, found.expected] == [
            case[part] for part in ("field", "value", "expected")
        ]


def _is_wide(report: dict[str, Any]) -> bool | None:
    own = report["assignment"]["questions"][0].get("own")
    return None if own is None else bool(own[1])


def test_all_that_clients_share_is_covered() -> None:
    documents = [case["document"] for case in CASES]
    shared = {"subset-selection", "return-bits", "bits-and-moves", "laplace", "randomized-response"}
    named = {document["mechanism"] for document in documents}
    assert named == shared | {"threshold-bits"}
    assert {document["epsilon"] for document in documents} >= {"0.2", "0.37", "2", "20"}
    with_thresholds = [case for case in CASES if case["document"]["mechanism"] == "threshold-bits"]
    reports = [report for case in with_thresholds for report in case["reports"]]
    for seen in ([0], [1]):
        for is_wide in (True, False):
            assert any(
                report["values"] == seen and _is_wide(report) is is_wide for report in reports
            )
    assert any("law" in report["assignment"] for report in reports)
    assert {report["total"] is None for report in reports} == {True, False}
    layouts = {document["randomizer"].get("layout") for document in documents}
    assert layouts == {"separate", "joint", None}
    for mechanism in shared:
        reports = [
            report["trajectory"]
            for case in CASES
            if case["document"]["mechanism"] == mechanism
            for report in case["reports"]
        ]
        assert any(not trajectory["states"] for trajectory in reports)
        assert any(0 < reward < 1 for trajectory in reports for reward in trajectory["rewards"])
