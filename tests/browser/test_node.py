"""The JavaScript client's own tests pass."""

from __future__ import annotations

import subprocess

from tests.browser.conftest import CLIENT


def test_the_clients_own_tests_pass(node: str) -> None:
    done = subprocess.run(
        [node, "--test"], cwd=CLIENT, capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "# pass 0" not in done.stdout
