"""The examples with Gymnasium run unchanged, and print what they promise."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import ldprl

ROOT = Path(__file__).parents[2]
SOURCE = Path(ldprl.__file__).parents[1]


def run(name: str, folder: Path) -> str:
    shown = subprocess.run(
        [sys.executable, "-W", "error", str(ROOT / "examples" / name)],
        cwd=folder,
        env=os.environ | {"PYTHONPATH": str(SOURCE)},
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert (shown.returncode, shown.stderr) == (0, "")
    assert list(folder.iterdir()) == []
    return shown.stdout


@pytest.mark.slow
def test_frozen_lake_compares_mechanisms(tmp_path: Path) -> None:
    shown = run("frozen_lake.py", tmp_path)
    best = float(re.findall(r"best policy reaches the goal in ([\d.]+)%", shown)[0])
    rows = re.findall(r"^([\w-]+) +(\S+) +([\d.]+)%$", shown, flags=re.MULTILINE)
    reached = {name: float(share) for name, _, share in rows}
    assert list(reached) == ["none", "subset-selection", "randomized-response", "laplace"]
    # Rounded as printed: without privacy next to nothing is lost, and nobody beats the best.
    assert 0.95 * best <= reached["none"] <= best
    assert reached["none"] >= reached["subset-selection"] > reached["laplace"]


def test_own_environment_is_played_as_computed(tmp_path: Path) -> None:
    """Type-I error ≤ 1e-6: 2,000 episodes that enjoy 0 to 5 texts, by Hoeffding within 0.31."""
    shown = run("own_environment_to_gymnasium.py", tmp_path)
    assert shown.count("fresh: short") == 4
    assert shown.count("fresh: long") == 1
    enjoyed, expected = map(float, re.findall(r"enjoyed ([\d.]+) .* expected ([\d.]+)", shown)[0])
    assert abs(enjoyed - expected) < 0.31
