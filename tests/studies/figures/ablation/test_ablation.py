"""The table of ideas: arithmetic means over draws, and the worst run of all."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from ldprl.figures.cells import CellRunner, first_draws
from ldprl.figures.settings import Settings
from ldprl.shape import FloatArray
from studies.figures import ablation


@pytest.mark.slow
def test_a_row_is_the_mean_over_draws(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    some = list(ablation.IDEAS)[:3]
    monkeypatch.setattr(ablation, "IDEAS", {text: ablation.IDEAS[text] for text in some})
    settings = Settings(episodes=200, runs=2, draws=3)
    laboratory = CellRunner(settings, tmp_path)
    regrets: dict[str, list[FloatArray]] = {}
    for draw in first_draws(settings):
        for text in some:
            cell = ablation.cell_in(settings, draw, text)
            found = cell.compute()
            laboratory._store.save(cell, found)
            regrets.setdefault(text, []).append(found.regret)
    table = ablation.make_table(laboratory)
    for row in table.to_pylist():
        mine = np.array(regrets[row["idea"]])
        assert row["mean"] == pytest.approx(mine.mean())
        assert row["worst"] == pytest.approx(mine.max())
        assert row["draws"] == 3
    (grid,) = ablation.findings(table).grids
    assert [line[0] for line in grid.rows] == some
    assert set(ablation.plot(table)) == {""}
