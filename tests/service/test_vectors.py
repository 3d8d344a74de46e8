"""A deployment on vectors over HTTP: planned from sums alone, and the same after a restart."""

from __future__ import annotations

import json
import secrets
import subprocess
import sys
import time
import tomllib
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ldprl.learning.learner import next_plan
from ldprl.learnt.search import searched
from ldprl.mechanisms.return_sums import ReturnSums
from ldprl.mechanisms.threshold_bits import ThresholdBits
from ldprl.policies.exported import export_policy
from ldprl.policies.imported import start_from
from ldprl.policies.parametric import Parametric, ParametricPolicy
from ldprl.policies.policy import MOST_POLICIES
from ldprl.protocol.deployment import Deployment
from ldprl.protocol.messages import Issued, report_document
from ldprl.service.backup import back_up, restore
from ldprl.service.certificate import certify_export
from ldprl.service.learners import learner_of
from ldprl.service.plans import plan_from
from ldprl.shape import IntArray
from ldprl.simulated_clients import SimulatedClients
from tests.relay.running import Pair

from .conftest import StartServer, postgresql_is_slow
from .server import Server
from .test_openapi import validated
from .vectors import DEPLOYMENT, POLICY, world, world_arrays


def visit(server: Server, users: int) -> SimulatedClients:
    deployment = server.deployment()
    there = world(deployment)
    clients = SimulatedClients(server.url, deployment.digest, there, users, concurrency=4, seed=5)
    clients.run()
    assert clients.statuses == {"counted": users}
    return clients


def settled(server: Server) -> dict[str, Any]:
    """Return the status once no plan is due."""
    until = time.monotonic() + 60
    while (status := server.get("/v1/status").json)["users"] >= status["next_plan_at"]:
        assert time.monotonic() < until, server.errors()
        time.sleep(0.05)
    found: dict[str, Any] = status
    return found


def sums_of(export: dict[str, Any], deployment: Deployment, before: int) -> ReturnSums:
    """Return the sums of all versions before one, read from an export."""
    plans = {
        one["version"]: plan_from(json.dumps(one["assignments"]), deployment.built)
        for one in export["plans"]
    }
    found = ReturnSums()
    for one in export["sums"]:
        if one["users"] and one["version"] < before:
            assignment = plans[one["version"]][one["assignment"]]
            tally: IntArray = np.array(one["tally"])
            found = found + deployment.built.decode(tally, one["users"], assignment)
    return found


@postgresql_is_slow
def test_it_learns_and_goes_on_after_a_restart_and_a_restore(
    start_server: StartServer, database: str, tmp_path: Path
) -> None:
    server = start_server(DEPLOYMENT, database)
    deployment = server.deployment()
    early = server.get("/v1/policy").json
    visit(server, 150)
    settled(server)
    plan = server.get("/v1/policy").body
    server.kill()
    server = start_server(DEPLOYMENT, database)
    assert server.get("/v1/policy").body == plan
    visit(server, 450)
    status = settled(server)
    assert (status["users"], sum(status["refused"].values())) == (600, 0)
    # What is shown follows from the sums alone.
    shown = server.get("/v1/dashboard").json
    counted = sums_of(server.admin("GET", "/v1/admin/export").json, deployment, before=10**9)
    assert isinstance(deployment.built, ThresholdBits)
    found = searched(deployment.built, counted.laws)
    assert {key: shown["learning"][key] for key in found} == found
    best = learner_of(deployment).best_policy(counted, np.random.default_rng(0))
    for one in shown["policy"]["examples"]:
        assert one["action"] == best.problem.act(best.parameters, np.array(one["observation"]))
    assert shown["history"][-1]["value"] == shown["learning"]["value"]

    # A report under the first version counts there, whenever it comes.
    number, name = secrets.randbelow(MOST_POLICIES), secrets.token_hex(16)
    law = early["assignments"][0]["law"]
    kept = {key: early[key] for key in ("deployment", "version")}
    first = kept | {"assignment": 0, "law": law, "number": number}
    first |= {"questions": early["assignments"][0]["questions"]}
    issued = Issued.from_document(first, deployment, number)
    late = server.post("/v1/reports", report_document(name, issued, [1]))
    assert late.json["status"] == "counted"

    export = server.admin("GET", "/v1/admin/export").json
    (of_first,) = [one["users"] for one in export["sums"] if one["version"] == 1]
    assert of_first >= 61
    everything = sums_of(export, deployment, before=10**9)
    assert everything.users == 601
    assert all(int(one.counts.sum()) == one.users for one in everything.laws)

    # The newest plan was made from these sums and nothing else: the late one came after it.
    server.admin("POST", "/v1/admin/publish", {})
    newest = settled(server)["version"]
    rng = np.random.default_rng([int(deployment.digest, 16), newest])
    (made,) = next_plan(learner_of(deployment), deployment.built, everything, rng)
    served = server.get("/v1/policy").json["assignments"][0]
    assert made.distribution is not None
    assert served["law"] == made.distribution.document()

    plan = server.get("/v1/policy").body
    server.kill()
    back_up(database, tmp_path / "backup")
    other = f"sqlite:///{tmp_path}/restored.sqlite"
    restore(tmp_path / "backup", other)
    server = start_server(DEPLOYMENT, other)
    assert server.get("/v1/policy").body == plan
    visit(server, 5)


CERTIFIED = (
    DEPLOYMENT.replace('"stay", "go"]', '"stay", "go"]\nstart = "start.json"')
    + '[certificate]\nshare = "0.4"\nconfidence = "0.95"\nalarm = "0.01"\n'
)


def test_it_certifies_what_would_be_handed_over_and_hands_it_over(
    start_server: StartServer, tmp_path: Path
) -> None:
    """The start is wrong: it goes with a low pulse. Documents are as they are described."""
    known = Deployment.from_toml(tomllib.loads(DEPLOYMENT))
    problem = known.problem
    assert isinstance(problem, Parametric)
    start = problem.check_policy("policy", np.array([0, 0, 0.7, -0.7, 0, 0]))
    assert isinstance(start, ParametricPolicy)
    export_policy(start, tmp_path / "start.json")
    server = start_server(CERTIFIED, f"sqlite:///{tmp_path}/certified.sqlite")
    assert server.deployment().problem.incumbent is not None
    visit(server, 700)
    settled(server)
    place = {"version": 1, "assignment": 0}
    query = {"id": secrets.token_hex(16), "number": 7}
    assert validated(server, "/v1/policy", "GET") == 200
    assert validated(server, "/v1/policy", "GET", query=query) == 200
    assert (
        validated(server, "/v1/policy/{version}/{assignment}", "GET", path_parameters=place) == 200
    )
    for path in ("/v1/certificate", "/v1/learnt.json", "/v1/learnt.onnx"):
        assert validated(server, path, "GET") == 200
    found = server.get("/v1/certificate").json
    assert (found["least"], found["largest"]) == (0, 1)
    assert certify_export(server.admin("GET", "/v1/admin/export").json) == found
    assert found["incumbent"]["worth"]["high"] < 0.3
    assert found["current"] is not None
    assert any(one["better"]["low"] > 0 for one in found["policies"]), found
    assert server.get("/v1/dashboard").json["certificate"] == found
    assert server.get("/metrics").body.count(b"\nldprl_certified_gain_low ") == 1

    np.savez(tmp_path / "world.npz", **world_arrays())
    line = [sys.executable, "-m", "ldprl", "simulate-users", server.url, "--users", "9", "--json"]
    done = subprocess.run(
        [*line, "--env", str(tmp_path / "world.npz")], capture_output=True, check=False
    )
    assert (done.returncode, json.loads(done.stdout)["counted"]) == (0, 9), done.stderr
    wrong = subprocess.run(
        [*line, "--env", "CartPole-v1"], capture_output=True, text=True, check=False
    )
    assert (wrong.returncode, "4 and 2" in wrong.stderr) == (2, True), wrong.stderr

    (tmp_path / "learnt.json").write_bytes(server.get("/v1/learnt.json").body)
    learnt = ParametricPolicy(problem, start_from(tmp_path / "learnt.json", problem).astype(float))
    assert (learnt.act(0, (85, 0)), learnt.act(0, (55, 0))) == (1, 0)


def test_behind_a_relay(tmp_path: Path) -> None:
    pair = Pair.start(tmp_path, crowd=40, central="2.9994", kind="", sizes="", more=POLICY)
    try:
        relay = pair.relay.ready()
        deployment = pair.service.deployment()
        there = world(deployment)
        clients = SimulatedClients(relay.url, deployment.digest, there, 40, concurrency=4)
        clients.run()
        assert clients.statuses == {"accepted": 40}
        until = time.monotonic() + 60
        while pair.service.users() < 40:
            assert time.monotonic() < until
            time.sleep(0.1)
    finally:
        pair.close()


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ('memory_users = 50\nmechanism = "return-bits"', "finitely many states"),
        ('learner = "ldp-ts"', "ldp-ts"),
        ('learner = "random-search"', "one that learns from private sums"),
        ("states = 3", "no states beside"),
    ],
)
def test_what_does_not_go_with_vectors_is_refused(more: str, said: str, tmp_path: Path) -> None:
    from ldprl import InputError
    from ldprl.service.settings import read_deployment

    file = tmp_path / "deployment.toml"
    file.write_text(DEPLOYMENT.replace("[policy]", f"{more}\n[policy]"), encoding="utf-8")
    with pytest.raises(InputError, match=said) as refused:
        read_deployment(file)
    assert "\n" not in str(refused.value)
