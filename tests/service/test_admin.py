"""The operator's calls need the token; pause, export and publish do what they say."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from .conftest import DEPLOYMENT, StartServer
from .server import Server

CALLS = [("POST", "/v1/admin/pause"), ("GET", "/v1/admin/export"), ("POST", "/v1/admin/publish")]


@pytest.mark.parametrize(("method", "path"), CALLS)
@pytest.mark.parametrize(
    "authorization", ["", "Bearer", "Bearer wrong", "Basic a token for tests", "bearer é"]
)
def test_without_the_token_nothing_is_done(
    server: Server, method: str, path: str, authorization: str
) -> None:
    before = server.get("/v1/status").json
    answer = server.send(method, path, b'{"paused": true}', authorization=authorization)
    assert (answer.status, answer.json["cause"]) == (401, "unauthorized")
    assert server.get("/v1/status").json == before


def test_a_server_without_a_token_has_no_admin(start_server: StartServer, tmp_path: Path) -> None:
    server = start_server(DEPLOYMENT, f"sqlite:///{tmp_path}/a.sqlite", admin=False)
    for method, path in CALLS:
        assert server.admin(method, path, {"paused": True}).status == 403


def test_paused_reports_are_held_off_and_come_in_later(server: Server) -> None:
    report = server.report()
    assert server.admin("POST", "/v1/admin/pause", {"paused": True}).json == {"paused": True}
    answer = server.post("/v1/reports", report)
    assert (answer.status, answer.json["cause"]) == (503, "paused")
    assert int(answer.headers["retry-after"]) > 0
    assert server.get("/v1/status").json["paused"]
    assert server.get("/v1/policy").status == 200
    server.admin("POST", "/v1/admin/pause", {"paused": False})
    assert server.post("/v1/reports", report).json["status"] == "counted"


@pytest.mark.parametrize("content", [{}, {"paused": 1}, {"paused": True, "for": 3}, []])
def test_a_pause_must_say_which(server: Server, content: object) -> None:
    answer = server.admin("POST", "/v1/admin/pause", content)
    assert (answer.status, answer.json["cause"]) == (400, "malformed")


def test_an_export_holds_plans_sums_and_statistics_but_no_ids(server: Server) -> None:
    report = server.report()
    server.post("/v1/reports", report)
    answer = server.admin("GET", "/v1/admin/export")
    exported = answer.json
    assert exported["digest"] == server.deployment().digest
    assert sum(one["users"] for one in exported["sums"]) == exported["totals"]["users"]
    assert exported["statistics"]["users"] == exported["totals"]["users"]
    assert exported["plans"][0]["version"] == 1
    assert report["id"].encode() not in answer.body
    assert "secret" not in exported


def test_publish_makes_the_next_version_at_once(server: Server) -> None:
    version = server.get("/v1/status").json["version"]
    started = time.monotonic()
    answer = server.admin("POST", "/v1/admin/publish")
    assert (answer.status, answer.json["version"]) == (200, version + 1)
    assert time.monotonic() - started < 60
    assert server.get("/v1/policy").json["version"] == version + 1
    # The version before may still be reported under.
    assert server.get(f"/v1/policy/{version}/0").json["version"] == version
