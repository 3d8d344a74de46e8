"""What README.md prints runs as printed."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```python\n(.*?)^```$", README, flags=re.MULTILINE | re.DOTALL)


def test_there_is_an_example_of_at_most_fifteen_lines() -> None:
    assert BLOCKS
    assert len(BLOCKS[0].splitlines()) <= 15


@pytest.mark.parametrize("block", BLOCKS, ids=range(len(BLOCKS)))
def test_example_runs_as_printed(block: str, tmp_path: Path) -> None:
    run = subprocess.run(
        [sys.executable, "-c", block],
        cwd=tmp_path,
        env=os.environ | {"MPLBACKEND": "Agg", "PYTHONPATH": str(ROOT / "src")},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert run.returncode == 0, run.stderr


def test_every_command_named_is_a_make_target() -> None:
    targets = set(re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(), flags=re.MULTILINE))
    named = set(re.findall(r"\bmake ([\w-]+)", README))
    assert {"demo", "test"} <= named <= targets


def test_every_local_link_leads_somewhere() -> None:
    links = re.findall(r"\]\(([^)#]+)\)", README)
    missing = [link for link in links if "://" not in link and not (ROOT / link).exists()]
    assert not missing


def test_continuous_integration_runs_the_readme_test_command_alone() -> None:
    script = (ROOT / ".ci" / "run").read_text()
    assert re.findall(r"\bmake .*", script) == ["make test"]
