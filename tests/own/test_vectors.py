"""A policy on vectors of one's own is simulated user by user, sent and served."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ldprl import InputError, run_protocol
from ldprl.assignment import Assignment
from ldprl.catalogue import LEARNERS
from ldprl.client import Client
from ldprl.protocol.deployment import Deployment
from ldprl.protocol.messages import Issued
from tests.own.vectors import Leader, Room, Side, Sliders, Success
from tests.service.server import Server

HERE = "tests.own.vectors"


def test_it_is_simulated_user_by_user() -> None:
    mechanism = Success(Sliders(), 2.0)
    learner = Leader(mechanism)
    *_, last = run_protocol(Room(), learner, mechanism, 400, seed=1, replan="growth:0.2")
    assert last.statistics.users == 400
    # Decoded with noise: 6 standard deviations are 6·√(400·0.18)/0.76 = 67 successes.
    assert abs(last.statistics.ones[1] - last.statistics.asked[1]) < 67
    assert learner.best_policy(last.statistics, np.random.default_rng(0)) == Side(True)


def test_another_world_is_refused() -> None:
    mechanism = Success(Sliders(2), 1.0)
    with pytest.raises(InputError, match="that of the world"):
        next(run_protocol(Room(), Leader(mechanism), mechanism, 3))


def deployment() -> Deployment:
    return Deployment(
        "sliders", Sliders(), "8", f"{HERE}:Success", learner=f"{HERE}:Leader", first_epoch=60
    )


def test_it_goes_over_the_wire() -> None:
    known = deployment()
    again = Deployment.from_document(json.loads(json.dumps(known.document)))
    assert again.digest == known.digest
    issued = Issued(known.digest, 1, 0, Assignment(Side(True)))
    received = json.loads(json.dumps(issued.document(known.built)))
    assert Issued.from_document(received, again).assignment.policy == Side(True)
    with pytest.raises(InputError, match="questions"):
        Issued.from_document(received | {"questions": [{"kind": "reward", "step": 0}]}, again)
    with pytest.raises(InputError, match="a side"):
        Issued.from_document(received | {"policy": [[0, 1]]}, again)


def test_it_is_served_to_real_clients(tmp_path: Path) -> None:
    """Clients take part over HTTP; the service learns which side is right, and plans with it."""
    text = (
        f'name = "sliders"\nepsilon = "8"\nfirst_epoch = 60\nmechanism = "{HERE}:Success"\n'
        f'learner = "{HERE}:Leader"\n[policy]\nkind = "{HERE}:Sliders"\nhorizon = 1\n'
    )
    (tmp_path / "deployment.toml").write_text(text, encoding="utf-8")
    options = ("--deployment", str(tmp_path / "deployment.toml"))
    server = Server.start(*options, "--database", f"sqlite:///{tmp_path}/own.sqlite")
    try:
        known, rng = deployment(), np.random.default_rng(2)
        assert server.deployment().digest == known.digest
        for number in range(90):
            client = Client(server.url, digest=known.digest, ledger=tmp_path / f"{number}.ledger")
            seen = tuple(rng.random(2).tolist())
            right = int(seen[0] < seen[1])

            def step(seen: Any, action: int, right: int = right) -> tuple[float, Any]:
                return float(action == right), seen

            outcome = client.take_part(seen, step)
            assert outcome.status == "counted"
            client.close()
        until = time.monotonic() + 30
        while (plan := server.get("/v1/policy").json)["version"] < 2:
            assert time.monotonic() < until, server.errors()
            time.sleep(0.1)
        assert plan["users"] >= 60
        assert plan["assignments"][0]["policy"] == {"turned": True}
    finally:
        server.kill()


def test_its_learner_is_found_by_name() -> None:
    assert LEARNERS.find(f"{HERE}:Leader").can_serve()
