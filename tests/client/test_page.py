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

from .conftest import DEPLOYMENT, step
from .fake import FakeService

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
    first, *rest = BLOCK.findall(text)
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
