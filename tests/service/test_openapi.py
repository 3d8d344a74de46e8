"""The OpenAPI document says what the server does: real and generated requests, real answers."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import jsonschema_rs
import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from schemathesis.specs.openapi.checks import ignored_auth, positive_data_acceptance

from ldprl.service.openapi import document
from tests.browser.make_vectors import VECTORS

from .server import TOKEN, Server

Call = tuple[str, str]
SCHEMA = schemathesis.openapi.from_dict(document())
# A report of the right form need not be of this deployment, and the token is a real one.
UNANSWERABLE = [positive_data_acceptance, ignored_auth]
CALLS = [(path, method.upper()) for path, item in document()["paths"].items() for method in item]


def test_the_document_is_served(server: Server) -> None:
    # In a process of its own: other tests of this one may have added kinds of questions.
    code = "import json; from ldprl.service.openapi import document; print(json.dumps(document()))"
    alone = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert server.get("/openapi.json").json == json.loads(alone.stdout)


@pytest.mark.parametrize("call", CALLS, ids=" ".join)
def test_answers_to_generated_requests_are_as_documented(server: Server, call: Call) -> None:
    """Statuses, kinds of content and schemas: schemathesis checks each answer."""
    path, method = call

    @given(data=st.data())
    @settings(
        max_examples=20,
        deadline=None,
        derandomize=True,
        database=None,
        suppress_health_check=list(HealthCheck),
    )
    def check(data: st.DataObject) -> None:
        case = data.draw(SCHEMA[path][method].as_strategy())
        response = case.call(base_url=server.url, headers=authorization(path), timeout=120)
        case.validate_response(response, excluded_checks=UNANSWERABLE)
        assert response.status_code < 500 or response.json()["cause"] == "paused"

    check()
    server.admin("POST", "/v1/admin/pause", {"paused": False})


def test_real_answers_are_as_documented(server: Server) -> None:
    report = server.report()
    bad = report | {"values": []}
    bodies: list[Any] = [report, report, bad, [report, bad, 7]]
    statuses = [validated(server, "/v1/reports", "POST", body=body) for body in bodies]
    assert statuses == [200, 200, 422, 200]
    query = {"id": report["id"]}
    assert validated(server, "/v1/policy", "GET", query=query) == 200
    assert validated(server, "/v1/policy", "GET", query={"id": "no"}) == 400
    place = {"version": 1, "assignment": 0}
    assert (
        validated(server, "/v1/policy/{version}/{assignment}", "GET", path_parameters=place) == 200
    )


def test_the_protocol_s_vectors_are_as_documented() -> None:
    vectors = json.loads(VECTORS.read_text(encoding="utf-8"))
    for case in [*vectors["deployments"], vectors["refusals"], vectors["hostile"]]:
        assert faults("DeploymentDocument", case["document"]) == []
        for report in case.get("reports", ()):
            assert faults("Assignment", report["assignment"]) == []
    assert faults("Plan", vectors["hostile"]["plan"] | {"users": 0}) == []


@pytest.mark.parametrize(
    "change",
    [{"low": None}, {"high": "3"}, {"kind": "unheard-of"}, {"more": 1}, {"step": 1}],
    ids=str,
)
def test_a_question_that_no_service_asks_is_not_documented(change: dict[str, Any]) -> None:
    asked = {"kind": "return", "step": 0, "low": 0, "high": 9, "expected": 0, "scored": 1}
    one = {"deployment": "0" * 64, "version": 1, "assignment": 0, "policy": [[0]]}
    assert faults("Assignment", one | {"questions": [asked]}) == []
    assert faults("Assignment", one | {"questions": [asked | change]}) != []


def faults(name: str, content: object) -> list[str]:
    """Return how a document differs from a schema."""
    schema = document() | {"$ref": f"#/components/schemas/{name}"}
    return [str(error) for error in jsonschema_rs.Draft202012Validator(schema).iter_errors(content)]


def validated(
    server: Server,
    path: str,
    method: str,
    *,
    body: Any = None,
    query: dict[str, Any] | None = None,
    path_parameters: dict[str, Any] | None = None,
) -> int:
    given_body = {} if body is None else {"body": body, "media_type": "application/json"}
    case = SCHEMA[path][method].Case(query=query, path_parameters=path_parameters, **given_body)
    response = case.call(base_url=server.url, timeout=120)
    case.validate_response(response)
    status: int = response.status_code
    return status


def authorization(path: str) -> dict[str, str]:
    return {"authorization": f"Bearer {TOKEN}"} if "/admin/" in path else {}
