"""The figure of regret over the lower bound, at a small size and on made-up tables."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest

from ldprl.bounds import instance_lower_bound
from ldprl.figures.cells import CellRunner
from ldprl.figures.settings import Settings
from studies.figures import limit

SMALL = Settings(episodes=200, runs=2)


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> pa.Table:
    """Return the table of the two bandits, simulated in this process."""
    folder: Path = tmp_path_factory.mktemp("limit")
    two = limit.worlds()[:2]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(limit, "worlds", lambda: two)
        runner = CellRunner(SMALL, folder)
        for cell in limit.cells(SMALL):
            runner._store.save(cell, cell.compute())
        return limit.make_table(runner)


def test_the_factors_multiply_to_the_ratio(table: pa.Table) -> None:
    rows = table.to_pylist()
    assert len(rows) == 2 * len(limit.EPSILONS) * len(limit.PLAYERS)
    for row in rows:
        assert row["mean"] <= row["worst"]
        product = row["questions"] * row["widths"] * row["exploration"]
        assert product == pytest.approx(row["ratio"])
    constant = instance_lower_bound(limit.worlds()[0].mdp, 0.5).at(SMALL.episodes)
    assert rows[0]["bound"] == pytest.approx(constant)


def test_findings_and_picture_show_every_world(table: pa.Table) -> None:
    found = limit.findings(table)
    assert len(found.sentences) == 3
    assert "times the lower bound in" in found.sentences[0]
    (grid,) = found.grids
    assert len(grid.rows) == table.num_rows
    assert all(len(row) == len(grid.heads) for row in grid.rows)
    assert set(limit.plot(table)) == {""}


def test_the_costliest_part_is_named(table: pa.Table) -> None:
    rows = table.to_pylist()
    for row in rows:
        row.update(questions=1.0, widths=50.0, exploration=2.0)
    assert limit.what_costs(rows, rows[0]["world"]).endswith(
        "the width of the confidence set costs most."
    )


def test_every_world_has_something_to_explore() -> None:
    for world in limit.worlds()[:-1]:
        assert instance_lower_bound(world.mdp, 1.0).constant > 0, world.name
