"""What Prometheus reads is what happened, in a format that its own parser takes."""

from __future__ import annotations

import json
import re
import time
from pathlib import Path

import pytest

from ldprl.service.watch import ROUTES, route_of

from .conftest import DEPLOYMENT, StartServer
from .server import Server

DASHBOARD = Path(__file__).parents[2] / "deploy" / "grafana.json"
Samples = dict[tuple[str, frozenset[tuple[str, str]]], float]


def scrape(server: Server) -> Samples:
    """Return what /metrics says, read by Prometheus' own library."""
    parser = pytest.importorskip("prometheus_client.parser", reason="pip install prometheus-client")
    text = server.get("/metrics").body.decode()
    found: Samples = {}
    for family in parser.text_string_to_metric_families(text):
        assert family.type != "unknown"
        for sample in family.samples:
            key = (sample.name, frozenset(sample.labels.items()))
            assert key not in found
            found[key] = sample.value
    return found


def of(samples: Samples, name: str, **labels: str) -> float:
    return samples[name, frozenset(labels.items())]


@pytest.fixture
def server(start_server: StartServer, tmp_path: Path) -> Server:
    deployment = DEPLOYMENT.replace("1000000", "5").replace("epochs", "")
    certified = "[structure]\nincumbent = [0, 1, 0]\n[certificate]\nshare = 0.5\nconfidence = 0.9\n"
    text = deployment + 'epochs = "every:5"\n' + certified
    return start_server(text, f"sqlite:///{tmp_path}/a.sqlite")


def test_requests_plans_and_learning_are_counted(server: Server) -> None:
    for _ in range(5):
        server.post("/v1/reports", server.report())
    server.post("/v1/reports", {})
    server.admin("POST", "/v1/admin/pause", {"paused": True})
    assert server.post("/v1/reports", {}).status == 503
    server.admin("POST", "/v1/admin/pause", {"paused": False})
    deadline = time.monotonic() + 60
    samples = scrape(server)
    while (
        of(samples, "ldprl_plan_version") < 2 or ("ldprl_settled_share", frozenset()) not in samples
    ):
        assert time.monotonic() < deadline
        time.sleep(0.1)
        samples = scrape(server)
    route = {"route": "/v1/reports"}
    assert of(samples, "ldprl_requests_total", **route, status="200") == 5
    assert of(samples, "ldprl_requests_total", **route, status="400") == 1
    assert of(samples, "ldprl_request_seconds_count", **route) == 7
    assert 0 < of(samples, "ldprl_request_seconds_sum", **route) < 60
    assert of(samples, "ldprl_request_seconds_bucket", **route, le="+Inf") == 7
    # Version 1 and version 2 were made by this process.
    assert of(samples, "ldprl_plan_seconds_count") == 2
    assert of(samples, "ldprl_users") == of(samples, "ldprl_plan_users") == 5
    assert of(samples, "ldprl_next_plan_users") == 10
    assert (of(samples, "ldprl_paused"), of(samples, "ldprl_healthy")) == (0, 1)
    progress = server.get("/v1/dashboard").json["progress"]
    low, high = (of(samples, f"ldprl_expected_return_{end}") for end in ("low", "high"))
    assert low <= of(samples, "ldprl_expected_return") <= high
    assert high == pytest.approx(progress["high"], abs=1)
    for name in queried():
        assert any(name == known for known, _ in samples), name


def queried() -> set[str]:
    """Return the metrics that the Grafana dashboard asks for."""
    dashboard = json.loads(DASHBOARD.read_text(encoding="utf-8"))
    asked = [target["expr"] for panel in dashboard["panels"] for target in panel["targets"]]
    assert all("ldprl_" in expression for expression in asked)
    return set(re.findall(r"\bldprl_\w+", " ".join(asked)))


def test_routes_hold_no_numbers_of_a_request(server: Server) -> None:
    assert [route_of(route) for route in ROUTES] == list(ROUTES)
    assert route_of("/v1/policy/12/7") == "/v1/policy"
    assert route_of("/v1/admin/pause") == "/v1/admin"
    for other in ("/", "/demo", "/v1", "/v1/5ecre7", "/v1/reports5ecre7", "//v1/reports"):
        assert route_of(other) == "other"
