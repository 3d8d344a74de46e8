"""A grid in worlds that are sampled: the same rows whatever runs it, and what they add up to."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest

from ldprl import learn
from ldprl.errors import InputError
from ldprl.experiments import cells_of, run_experiment
from ldprl.experiments.schema import parse
from ldprl.experiments.summary import Summary, summarize
from ldprl.figures.experiment_plot import plot_experiment

GRID = """
environments = ["data.npz", "tests.worlds.own_envs:Echo"]
policies = ["linear", "network"]
learners = ["ldp-es", "random-search"]
mechanisms = ["threshold-bits"]
epsilons = [2]
seeds = [0, 1]
runs = 2
episodes = 300
horizon = 4
return_range = [0, 6]
hidden = [2, 2]
[[pairs]]
learner = "ldp-es"
mechanism = "none"
"""


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("sampled")
    seen = np.random.default_rng(0).normal(size=(20, 2))
    np.savez(folder / "data.npz", features=seen, rewards=3 + np.tanh(seen), reward_kind="exact")
    (folder / "grid.toml").write_text(GRID, encoding="utf-8")
    run_experiment(folder / "grid.toml", folder / "one", workers=1)
    return folder


@pytest.fixture(scope="module")
def summary(place: Path) -> Summary:
    return summarize(place / "one")


def test_rows_are_those_of_learn(place: Path) -> None:
    rows = pq.read_table(place / "one" / "results.parquet").to_pylist()
    found = learn(
        str(place / "data.npz"),
        "network",
        2.0,
        300,
        horizon=4,
        return_range=(0, 6),
        hidden=(2, 2),
        runs=2,
        seed=1,
        learner="random-search",
    )
    some = [
        row["mean_return"]
        for row in rows
        if (row["environment"], row["policy"], row["learner"], row["seed"])
        == ("data.npz", "network", "random-search", 1)
    ]
    assert some == found.worth.ravel().tolist()
    assert {row["epsilon"] for row in rows} == {2.0, float("inf")}


@pytest.mark.slow
def test_processes_write_the_same_table(place: Path) -> None:
    other = run_experiment(place / "grid.toml", place / "two", workers=2)
    assert other.read_bytes() == (place / "one" / "results.parquet").read_bytes()


def test_lines_are_means_over_seeds_and_runs(place: Path, summary: Summary) -> None:
    assert (summary.lines, summary.finished, summary.cells) == ((), 24, 24)
    assert len(summary.returns) == 12
    for line in summary.returns:
        found = line.as_dict()
        assert found["runs"] == 4
        assert found["final_return"] == pytest.approx(line.curves[:, -1].mean())
        assert found["worst"] == line.curves[:, -1].min()
        assert 0 <= found["mean_return"] <= 6
        if line.environment == "data.npz":
            assert found["regret"] == pytest.approx(300 * (line.best_value - found["mean_return"]))
        else:
            assert (found["regret"], found["learned"]) == (None, None)


def test_a_picture_has_a_panel_for_each_environment(summary: Summary) -> None:
    figure = plot_experiment(summary)
    titles = [axes.get_title(loc="left") for axes in figure.axes]
    assert titles == ["data.npz", "tests.worlds.own_envs:Echo"]
    assert all(len(axes.lines) == 6 for axes in figure.axes)


def test_other_data_are_another_grid(place: Path) -> None:
    before = cells_of(parse(GRID), place)[0].identity
    seen = np.ones((20, 2))
    np.savez(place / "data.npz", features=seen, rewards=3 + np.tanh(seen), reward_kind="exact")
    assert cells_of(parse(GRID), place)[0].identity != before


@pytest.mark.parametrize(
    ("old", "new", "field"),
    [
        ("hidden = [2, 2]", 'replan = "each"', "replan"),
        ("hidden = [2, 2]", 'constants = ["paper"]', "constants"),
        ("hidden = [2, 2]", "hidden = [0]", "hidden[0]"),
        ('policies = ["linear", "network"]', 'policies = ["linear"]', "hidden"),
        ('policies = ["linear", "network"]', "", "horizon"),
        ("[0, 6]", "[0, 6, 7]", "return_range"),
        ("[0, 6]", "[6, 0]", "returns"),
        ("horizon = 4", "horizon = 0", "horizon"),
        ('"random-search"]', '"ldp-obi"]', "mechanism"),
        ('["data.npz", ', '["CartPole-v7", ', "env"),
    ],
)
def test_what_does_not_fit_is_refused_before_the_first_simulation(
    old: str, new: str, field: str, place: Path
) -> None:
    with pytest.raises(InputError) as caught:
        cells_of(parse(GRID.replace(old, new)), place)
    assert caught.value.field == field
