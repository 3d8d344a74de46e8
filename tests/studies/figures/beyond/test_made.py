"""``python -m studies beyond`` from end to end, at a small size."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from ldprl.experiments.cells import Cell
from ldprl.figures.cells import CellRunner
from ldprl.figures.drawing import _RULES
from ldprl.figures.reproduce import reproduce
from ldprl.figures.settings import Settings
from studies.figures import STUDIES
from studies.figures.beyond.results import LARGER, OPEN, PRIVATE

SMALL = Settings(episodes=8, runs=1, draws=2, epsilons=(2.0,))


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with the figure, made in this process so that no other has to start."""
    out = tmp_path_factory.mktemp("beyond") / "all"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(CellRunner, "simulate", _simulate_here)
        patch.setitem(_RULES, "savefig.dpi", 30)
        for place in ("grid:5,5,10", "random:10,3,5,0"):
            patch.delitem(LARGER, place)
        reproduce(["beyond"], SMALL, out, collection=STUDIES, workers=1)
    return out


def _simulate_here(self: Any, todo: Sequence[Cell], workers: int, done: Any) -> None:
    for cell in todo:
        simulation = cell.compute()
        self._store.save(cell, simulation)
        done(cell, simulation)


def test_all_is_written(made: Path) -> None:
    assert pq.read_table(made / "data" / "beyond.parquet").num_rows > 0
    ends = ("", "-epsilons", "-larger", "-price", "-users", "-ablation", "-tree")
    for end, kind in itertools.product(ends, ("png", "svg")):
        assert (made / "pictures" / f"beyond{end}.{kind}").stat().st_size > 0
    report = (made / "report.html").read_text()
    assert "beyond the paper</title>" in report
    assert '<section id="beyond">' in report
    assert "Settings</h2>" not in report  # that is about the paper's figures
    tables = (made / "tables" / "beyond.md").read_text()
    for one in (*PRIVATE, *OPEN):
        assert f"| {one.name} | " in tables
