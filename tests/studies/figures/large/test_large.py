"""The figures of sizes: who learns where, and what table and pictures say."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from ldprl.catalogue import recommended_learner
from ldprl.figures.cells import CellRunner, first_draw
from ldprl.figures.drawing import style
from ldprl.figures.gallery import sizes
from ldprl.figures.gallery.sizes.compare import EPSILON, pictures, table_of
from ldprl.figures.settings import Settings
from ldprl.worlds.evaluation import worth
from studies.bounds.effects import effects_price
from studies.figures.large import FIGURE, findings
from studies.figures.large.prices import with_prices
from studies.figures.large.problems import Problem, bandit, problems

SMALL = Settings(episodes=300, runs=2)


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> pa.Table:
    folder: Path = tmp_path_factory.mktemp("large")
    runner = CellRunner(SMALL, folder)
    problem = Problem("a bandit", lambda: [bandit(0.9, 0.7)] * 2, epsilons=(1.0, EPSILON))
    names = ("ldp-returns", "ldp-obi", "ldp-evi")
    cells = [cell for cell in problem.cells(SMALL) if cell.learner in names]
    chosen = [("a bandit", cell) for cell in cells if cell.learner != "ldp-evi" or not cell.epsilon]
    for _, cell in chosen:
        runner._store.save(cell, cell.compute())
    return with_prices(table_of(runner, chosen), chosen)


def test_the_recommended_learner_comes_first_and_users_are_bounded() -> None:
    by_title = {problem.title: problem for problem in problems()}
    for title in ("bandit 0.9, 0.7", "Random 2×2×2", "Random 25×4×10"):
        problem = by_title[title]
        found = problem.cells(Settings())
        first, states = found[0], found[0].mdp.shape.states
        assert first.learner == recommended_learner(first.mdp.shape, EPSILON, problem.users)
        assert {cell.learner for cell in found} >= {first.learner, "ldp-obi", "ldp-evi"}
        assert ("studies.rivals:DPUCBVI" in {cell.learner for cell in found}) == (states <= 10)
        private = {cell.epsilon for cell in found if cell.learner == first.learner} - {None}
        assert private == {*problem.epsilons} >= {EPSILON}
        assert any(cell.epsilon is None for cell in found)
        assert all(cell.episodes <= 10**8 for cell in found)
        assert worth(first.mdp) > 0
    assert [cell.runs for cell in by_title["grid 5×5"].cells(SMALL)] == [2] * 3
    # A run of a learner with a model takes minutes there.
    assert {cell.learner for cell in by_title["Random 100×4×10"].cells(SMALL)} == {"ldp-ways"}


def test_the_small_figure_has_some_of_the_problems_of_the_large_one() -> None:
    titles = {title for title, _ in sizes.chosen(SMALL)}
    assert len(titles) == 6
    assert titles < {problem.title for problem in problems()}
    assert len(sizes.chosen(SMALL)) == 18
    assert sizes.chosen(SMALL)[0][1].environment == first_draw().name
    worlds = {problem.title: problem.worlds for problem in problems()}
    for title, cell in sizes.chosen(SMALL):
        assert cell.environment == worlds[title]()[0].name
    assert sizes.FIGURE.chapter
    assert FIGURE.chapter is None


def test_the_table_is_that_of_the_runs(table: pa.Table) -> None:
    rows = table.to_pylist()
    assert [(row["learner"], row["epsilon"]) for row in rows] == [
        ("ldp-returns", 1.0),
        ("ldp-returns", EPSILON),
        ("ldp-obi", 1.0),
        ("ldp-obi", EPSILON),
        ("ldp-evi", None),
    ]
    for row in rows:
        assert row["users"][-1] == 300
        # Two worlds, one run each, which are the same here.
        assert (row["worlds"], len(row["last"]), len(row["learned"])) == (2, 2, 2)
        assert row["regret"][-1] == pytest.approx(np.mean(row["last"]))
        spread = np.std(row["last"], ddof=1) / np.sqrt(2)
        assert row["regret_error"][-1] == pytest.approx(spread)
        # The gap is 0.1: half of the users have the worse arm at random.
        half = np.interp(150, row["users"], row["regret"])
        late = (row["regret"][-1] - half) / 150
        assert row["gained"][-1] == pytest.approx(1 - late / 0.1)
        assert all(share in (-1, 1) for share in np.round(row["learned"], 9))
        price = effects_price(bandit(0.9, 0.7).mdp, row["epsilon"] or 1.0, 300)
        expected = [asdict(price)] * 2 if row["learner"] == "ldp-returns" else []
        assert row["prices"] == expected


def test_findings_and_pictures_show_everybody(table: pa.Table) -> None:
    found = findings(table)
    (sentence,) = found.sentences
    assert sentence.startswith("a bandit: LDP-RETURNS closes")
    assert "LDP-EVI, no privacy" in sentence
    assert [len(grid.rows) for grid in found.grids] == [5, 2]
    assert all(len(row) == len(grid.heads) for grid in found.grids for row in grid.rows)
    with style():
        drawn = pictures(table)
    assert set(drawn) == {"", "regret"}
    shown = [panel for panel in drawn[""].axes if panel.get_visible()]
    assert [panel.get_title(loc="left") for panel in shown] == ["a bandit (1×2×1)"]
