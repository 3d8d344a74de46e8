"""The public calls: what clients and watchers read, and the headers it comes with."""

from __future__ import annotations

import asyncio
import gzip
import re
import tomllib
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from ldprl.protocol.deployment import Deployment
from ldprl.service import routes
from ldprl.service.routes import Routes
from ldprl.service.service import Service
from ldprl.service.settings import ServiceSettings

from .cluster import Postgres
from .conftest import DEPLOYMENT, StartServer
from .server import Server


def test_the_deployment_has_its_digest_and_an_etag(server: Server) -> None:
    answer = server.get("/v1/deployment")
    assert server.deployment().digest == answer.json["digest"]
    tag = answer.headers["etag"]
    assert tag == f'"{answer.json["digest"]}"'
    unchanged = server.send("GET", "/v1/deployment", None, **{"if-none-match": tag})
    assert (unchanged.status, unchanged.body) == (304, b"")


def test_an_id_gets_one_assignment_of_the_plan(server: Server) -> None:
    whole = server.get("/v1/policy").json
    given = server.get("/v1/policy?id=" + "a" * 32)
    assert given.headers["cache-control"] == "no-store"
    assert given.json == server.get("/v1/policy?id=" + "a" * 32).json
    part = whole["assignments"][given.json["assignment"]]
    assert {key: part[key] for key in ("policy", "questions")} == {
        key: given.json[key] for key in ("policy", "questions")
    }
    assert sum(one["share"] for one in whole["assignments"]) == pytest.approx(1)
    assert "weights" not in given.body.decode()
    index, version = given.json["assignment"], given.json["version"]
    assert server.get(f"/v1/policy/{version}/{index}").json == given.json


def test_where_no_policy_is_a_file_none_is_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Anybody may ask for one: with tables the learner would plan, and nobody would see it."""
    made: list[object] = []
    monkeypatch.setattr(routes, "learnt_policy", lambda *given: made.append(given))
    deployment = Deployment.from_toml(tomllib.loads(DEPLOYMENT))
    service = Service(ServiceSettings(deployment, f"sqlite:///{tmp_path}/tables.sqlite"))
    try:
        for suffix in (".json", ".onnx"):
            request: Any = SimpleNamespace(url=SimpleNamespace(path=f"/v1/learnt{suffix}"))
            assert asyncio.run(Routes(service).learnt(request)).status_code == 404
    finally:
        service.turns.close()
        service.database.close()
    assert made == []


@pytest.mark.parametrize("path", ["/v1/policy", "/v1/policy/1/0", "/v1/policy?id=" + "0" * 32])
def test_plans_come_compressed_and_are_not_sent_twice(server: Server, path: str) -> None:
    plain, packed = server.get(path), server.get(path, **{"accept-encoding": "br, gzip"})
    assert "content-encoding" not in plain.headers
    assert packed.headers["content-encoding"] == "gzip"
    assert gzip.decompress(packed.body) == plain.body
    assert len(packed.body) < len(plain.body)
    for refused in ("identity", "gzip;q=0", "br, gzip; q=0.0, *;q=0", "x-gzip"):
        assert server.get(path, **{"accept-encoding": refused}).body == plain.body
    if "id=" in path:
        # One user's: nobody else may be given it.
        assert {one.headers["cache-control"] for one in (plain, packed)} == {"no-store"}
        return
    assert {one.headers["vary"] for one in (plain, packed)} == {"accept-encoding"}
    assert all("public, max-age=" in one.headers["cache-control"] for one in (plain, packed))
    assert plain.headers["etag"] != packed.headers["etag"]
    for one, accepted in ((plain, "identity"), (packed, "gzip")):
        known = {"if-none-match": one.headers["etag"], "accept-encoding": accepted}
        again = server.get(path, **known)
        assert (again.status, again.body) == (304, b"")
        kept = ("etag", "vary", "cache-control")
        assert [again.headers[name] for name in kept] == [one.headers[name] for name in kept]
        assert server.get(path, **known | {"if-none-match": '"other"'}).status == 200


@pytest.mark.parametrize("path", ["/v1/policy/0/0", "/v1/policy/1/99", "/v1/policy/x/0", "/none"])
def test_what_is_not_there_is_404(server: Server, path: str) -> None:
    answer = server.get(path)
    assert (answer.status, answer.json["cause"]) == (404, "not-found")


@pytest.mark.parametrize("report_id", ["", "A" * 32, "0" * 31, "0" * 33, "%00"])
def test_a_bad_id_is_malformed(server: Server, report_id: str) -> None:
    answer = server.get(f"/v1/policy?id={report_id}")
    assert (answer.status, answer.json["cause"]) == (400, "malformed")


def test_metrics_are_prometheus_text(server: Server) -> None:
    server.post("/v1/reports", server.report())
    server.post("/v1/reports", {})
    text = server.get("/metrics").body.decode()
    values = dict(line.rsplit(" ", 1) for line in text.splitlines() if line[0] != "#")
    assert float(values['ldprl_reports_total{outcome="counted"}']) >= 1
    assert float(values['ldprl_refused_total{cause="malformed"}']) >= 1
    assert float(values['ldprl_commit_seconds_bucket{le="+Inf"}']) >= 1
    assert values["ldprl_plan_version"] == "1"
    for line in text.splitlines():
        assert re.fullmatch(r'# (HELP|TYPE) .+|\w+(\{\w+="[^"]*"(,\w+="[^"]*")*\})? [-+.\w]+', line)


def test_every_answer_forbids_what_it_need_not_do(server: Server) -> None:
    for path in ("/v1/status", "/", "/demo", "/v1/dashboard", "/healthz", "/none"):
        headers = server.get(path).headers
        assert headers["content-security-policy"].startswith("default-src 'none'")
        assert headers["x-content-type-options"] == "nosniff"
        assert "server" not in headers


@pytest.mark.parametrize(
    "path", ["/static/../service.py", "/static/%2e%2e/service.py", "/static//etc/passwd"]
)
def test_no_file_but_the_pages_is_served(server: Server, path: str) -> None:
    assert server.get(path).status == 404


def test_pages_of_other_sites_may_report(server: Server) -> None:
    asked = server.send("OPTIONS", "/v1/reports", None, origin="https://app.example")
    assert asked.status == 204
    assert asked.headers["access-control-allow-origin"] == "*"
    assert "POST" in asked.headers["access-control-allow-methods"]


def test_several_workers_share_one_database(start_server: StartServer, postgres: Postgres) -> None:
    server = start_server(DEPLOYMENT, postgres.database(), "--workers", "2")
    reports = [server.report() for _ in range(20)]
    for report in reports * 2:
        assert server.post("/v1/reports", report).status == 200
    assert server.get("/v1/status").json["reports"] == {"counted": 20, "duplicate": 20}
    assert server.stop() == 0
