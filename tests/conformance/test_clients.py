"""Python's client and the browser's pass every check, with a real service at the end."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import pytest

from ldprl.conformance.run import conform

BROWSER = Path(__file__).parents[2] / "clients" / "js" / "testing" / "conform.js"
CLIENTS = {
    "python": f"{sys.executable} -m ldprl.conformance.python_client",
    "browser": f"{shutil.which('node')} {BROWSER}",
}


@pytest.mark.slow
@pytest.mark.parametrize("client", CLIENTS)
def test_it_conforms(client: str) -> None:
    """A good client fails one of the checks by chance with a probability of 5·10⁻⁵ at most."""
    if client == "browser" and shutil.which("node") is None:
        pytest.skip("NO NODE HERE: the browser's client was not checked")
    found = list(conform(CLIENTS[client], 5000))
    assert [check for check in found if not check.passed] == []
    assert len(found) > 45
