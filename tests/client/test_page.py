"""The page on the Python client: its code runs, against a service of a few lines."""

from __future__ import annotations

import contextlib
import io
import re
from pathlib import Path
from typing import Any

import pytest

from ldprl import Budget, Ledger
from ldprl.client import Client
from ldprl.conformance.scripted import running
from ldprl.policies.features import Feature
from ldprl.policies.linear import Linear
from ldprl.protocol.deployment import Deployment

from .conftest import DEPLOYMENT, step
from .fake import FakeService
from .test_vectors import VectorService

PAGE = Path(__file__).parents[2] / "docs" / "service" / "python-client.md"
BLOCK = re.compile(r"^```py\n(.*?)^```$", flags=re.MULTILINE | re.DOTALL)


def test_the_page_runs(
    service: FakeService, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    text = PAGE.read_text(encoding="utf-8")
    text = text.replace("https://advice.example", service.url)
    text = re.sub(r'DIGEST = ".*"', f'DIGEST = "{DEPLOYMENT.digest}"', text)
    names: dict[str, Any] = {
        "first_state": 0,
        "follow_advice": step,
        "user_has_left": lambda: False,
        "user_did_something_else": lambda: True,
    }
    said = io.StringIO()
    first, *rest = (code for code in BLOCK.findall(text) if "heart_rate" not in code)
    with contextlib.redirect_stdout(said):
        exec(first, names)
        client: Client = names["client"]
        assert isinstance(client.ledger, Ledger)
        assert client.ledger.path == tmp_path / "advice.ledger"
        client.ledger.budget = Budget(5)
        for code in rest:
            exec(code, names)
    lines = said.getvalue().splitlines()
    assert lines[0].startswith("counted ")
    assert lines[-1] == "counted"
    assert len(service.counted) == 5
    client.close()


def test_what_it_says_of_vectors_runs(tmp_path: Path) -> None:
    (code,) = (code for code in BLOCK.findall(PAGE.read_text("utf-8")) if "heart_rate" in code)
    features: list[Feature | str] = [
        "heart rate",
        "sleep",
        Feature("weather", categories=("dry", "rain", "snow")),
    ]
    problem = Linear(features=features, actions=["rest", "walk"], horizon=5, returns=(0, 5))
    deployment = Deployment("health", problem, "1")
    over = iter([False, False, True])
    with running(VectorService(deployment)) as service:
        ledger = Ledger(tmp_path / "health.ledger", Budget(5))
        client = Client(service.url, digest=deployment.digest, ledger=ledger)
        names: dict[str, Any] = {
            "client": client,
            "heart_rate": lambda: 71,
            "hours_of_sleep": lambda: float("nan"),
            "reward_of": float,
            "is_over": lambda: next(over),
        }
        exec(code, names)
        assert names["episode"].done
        assert [entry.verdict for entry in ledger.entries()] == [None]
        client.close()
    assert not service.counted
