"""The study of constants: one is changed, in a process of its own, and nothing is run twice."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ldprl.figures.cells import CellRunner
from ldprl.figures.settings import Settings
from studies.figures import sensitivity


def test_a_value_is_run_once_and_compared(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ran: list[tuple[str, float]] = []

    def run(one: sensitivity.Constant, value: float) -> str:
        ran.append((one.name, value))
        return json.dumps({"bandit": [[value, 3 * value]], "draws": [[1.0], [2.0], [3.0]]})

    monkeypatch.setattr(sensitivity, "_run", run)
    laboratory = CellRunner(Settings(), tmp_path)
    table = sensitivity.make_table(laboratory)
    first = len(ran)
    assert sensitivity.make_table(laboratory).equals(table)
    assert len(ran) == first == len(set(ran))
    for one in sensitivity.CONSTANTS:
        assert one.value in one.values()
        assert max(one.values()) <= one.most
        (chosen,) = (
            row
            for row in table.to_pylist()
            if row["constant"].endswith(f".{one.name}")
            and row["chosen"]
            and row["problem"] == "bandit"
            and row["learner"] == one.learner
        )
        assert chosen["mean"] == pytest.approx(2 * one.value)
        assert chosen["worst"] == pytest.approx(3 * one.value)
    (grid,) = sensitivity.findings(table).grids
    assert len(grid.rows) == table.num_rows
    assert set(sensitivity.plot(table)) == {""}
