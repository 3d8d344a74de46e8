"""``ldprl simulate-users``: everybody takes part once, in the given MDP, and is counted."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ldprl
from ldprl import random_mdp
from ldprl.cli import main
from ldprl.client import UnavailableError
from ldprl.conformance.scripted import Reply, refusal
from ldprl.simulated_clients import SimulatedClients
from ldprl.worlds.evaluation import regret

from .conftest import DEPLOYMENT, SHAPE
from .fake import FakeService

WORLD = random_mdp(SHAPE.states, SHAPE.actions, SHAPE.horizon, 7)


def clients_of(service: FakeService, users: int, **options: Any) -> SimulatedClients:
    return SimulatedClients(service.url, DEPLOYMENT.digest, WORLD, users, **options)


def test_everybody_has_an_id_of_their_own(service: FakeService) -> None:
    shown: list[tuple[int, int]] = []
    clients = clients_of(service, 60, concurrency=4)
    clients.run(lambda done, total: shown.append((done, total)))
    assert len(service.counted) == len(set(service.asked)) == 60
    assert clients.statuses == {"counted": 60}
    assert shown == [(done, 60) for done in range(1, 61)]
    assert service.connections <= 5, "connections are kept"


def test_regret_is_that_of_the_policies_handed_out(service: FakeService) -> None:
    clients = clients_of(service, 20, concurrency=2)
    clients.run()
    points, curve = clients.curve()
    loss = regret(WORLD, service.plan[0].table)
    assert loss > 0
    assert np.allclose(curve, loss * np.array(points))
    assert points[-1] == 20


def test_refusals_are_told_by_cause(service: FakeService) -> None:
    clients = clients_of(service, 10, concurrency=1)
    answer = service.answer

    def refuse_some(method: str, path: str, body: bytes) -> Any:
        if method == "POST" and len(service.bodies) % 3 == 0:
            service.bodies.append(body)
            return refusal(422, "wrong-alphabet")
        return answer(method, path, body)

    service.answer = refuse_some  # type: ignore[method-assign]
    clients.run()
    assert clients.refused == Counter({"wrong-alphabet": 4})
    assert clients.statuses == {"counted": 6, "refused": 4}
    assert clients.recorder.users == 10, "who is refused has had an episode all the same"


def test_another_world_is_refused(service: FakeService) -> None:
    with pytest.raises(ldprl.InputError, match="mdp = "):
        SimulatedClients(service.url, DEPLOYMENT.digest, random_mdp(2, 2, 3, 0), 5)


def test_a_service_that_goes_away_sends_everybody_home(
    service: FakeService, monkeypatch: pytest.MonkeyPatch
) -> None:
    clients = clients_of(service, 50, concurrency=3)
    monkeypatch.setattr(service, "answer", lambda *_: refusal(503, "paused", "3600"), raising=True)
    with pytest.raises(UnavailableError):
        clients.run()


def command(service: FakeService, *arguments: str) -> list[str]:
    program = "from ldprl.cli import main; main()"
    world = ("--mdp", "random:3,2,3,7")
    return [sys.executable, "-c", program, "simulate-users", service.url, *world, *arguments]


def environment() -> dict[str, str]:
    import os

    return os.environ | {"PYTHONPATH": str(Path(ldprl.__file__).parents[1]), "NO_COLOR": "1"}


def without_progress(text: str) -> str:
    """Leave out the lines that work of more than a second writes, as on a busy machine."""
    return re.sub(r"(?m)^ *\d+ s  .* users(, .* left)?\n", "", text)


def test_the_command(service: FakeService) -> None:
    line = command(service, "--users", "30", "--seed", "1", "--json")
    done = subprocess.run(line, env=environment(), capture_output=True, text=True, check=True)
    warning = "warning: --seed makes pseudo-random noise, which hides nothing\n"
    assert without_progress(done.stderr) == warning
    printed = json.loads(done.stdout)
    assert {
        key: printed[key] for key in ("users", "counted", "duplicate", "unsent", "refused")
    } == {
        "users": 30,
        "counted": 30,
        "duplicate": 0,
        "unsent": 0,
        "refused": {},
    }
    assert len(printed["regret"]) == len(printed["checkpoints"])
    shown = subprocess.run(
        command(service, "--users", "30"),
        env=environment(), capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert "Regret of the policies" in shown.stdout
    assert without_progress(shown.stderr) == ""
    assert len(service.counted) == 60


def test_a_paused_service_is_one_line_at_once(
    service: FakeService, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    service.paused = True
    words = ["ldprl", "simulate-users", service.url, "--mdp", "random:3,2,3,7", "--users", "5"]
    monkeypatch.setattr("sys.argv", words)
    started = time.monotonic()
    with pytest.raises(SystemExit) as stopped:
        main()
    said = capsys.readouterr()
    assert (stopped.value.code, said.out) == (2, "")
    assert "its operator has paused it" in said.err
    assert said.err.count("\n") == 1
    assert time.monotonic() - started < 30, "a client waits 60 s for a service that may come back"
    assert not service.asked


def test_what_is_no_service_is_one_line(service: FakeService) -> None:
    service.instead.append((404, {}, b"<html>"))
    line = command(service, "--users", "5")
    done = subprocess.run(line, env=environment(), capture_output=True, text=True, check=False)
    said = f"error: url = '{service.url}': expected a service that answers (GET /v1/deployment:"
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(said)
    assert done.stderr.count("\n") == 1


def test_a_limit_on_requests_is_named(
    service: FakeService, monkeypatch: pytest.MonkeyPatch
) -> None:
    answer = service.answer

    def limited(method: str, path: str, body: bytes) -> Reply:
        return (429, {}, b"") if path.startswith("/v1/policy") else answer(method, path, body)

    monkeypatch.setattr(service, "answer", limited)
    line = command(service, "--users", "2", "--patience", "0.5")
    done = subprocess.run(line, env=environment(), capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr.endswith(
        "status 429): so many requests are not allowed from one address; lower --concurrency\n"
    )


def test_an_interrupt_tells_what_was_done_and_ends_quietly(service: FakeService) -> None:
    line = command(service, "--users", "1000000", "--json")
    process = subprocess.Popen(
        line, env=environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    deadline = threading.Timer(300, process.kill)
    deadline.start()
    while len(service.counted) < 20 and process.poll() is None:
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate()
    deadline.cancel()
    assert (process.returncode, without_progress(err)) == (130, "")
    assert 0 < json.loads(out)["users"] <= len(service.counted)
