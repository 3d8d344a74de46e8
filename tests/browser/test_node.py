"""The JavaScript client's own tests pass."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import ldprl.service
from tests.browser.conftest import CLIENT

_WORDS = """
const { decimalAtMost, interval, percentAtLeast, percentAtMost } = await import(process.argv[1]);
console.log(JSON.stringify([
  [0.95, 0.975, 0.9999].map(percentAtLeast), [0.95, 0.9751].map(percentAtMost),
  [0.12, 0.1201].map(decimalAtMost), interval({ low: 0.129, high: 0.121 }),
]));
"""


def test_the_clients_own_tests_pass(node: str) -> None:
    done = subprocess.run(
        [node, "--test"], cwd=CLIENT, capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "# pass 0" not in done.stdout


def test_the_dashboard_rounds_bounds_to_their_safe_side(node: str) -> None:
    words = Path(ldprl.service.__file__).with_name("static") / "words.js"
    run = [node, "--input-type=module", "-e", _WORDS, words.as_uri()]
    done = subprocess.run(run, capture_output=True, text=True, timeout=60, check=True)
    assert json.loads(done.stdout) == [
        ["95%", "97.5%", "99.9%"],
        ["95%", "97.6%"],
        ["0.12", "0.13"],
        "0.12 to 0.13",
    ]
