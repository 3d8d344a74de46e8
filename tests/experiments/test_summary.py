"""What a folder says so far: means, errors and shares by hand, from whole runs and half ones."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from ldprl.catalogue import build
from ldprl.errors import InputError
from ldprl.experiments import cells_of, run_experiment
from ldprl.experiments.schema import parse
from ldprl.experiments.summary import summarize
from ldprl.figures.experiment_plot import plot_experiment
from ldprl.learnt.share import learnt
from ldprl.simulation.engine import simulate
from ldprl.worlds.specification import mdp_from

GRID = """
environments = ["random:3,2,3,1", "riverswim:3,4"]
learners = ["ucb-vi"]
epsilons = [2]
seeds = [0, 1]
runs = 3
episodes = 500
[[pairs]]
learner = "ldp-obi"
mechanism = "laplace"
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("summary")
    (place / "grid.toml").write_text(GRID, encoding="utf-8")
    run_experiment(place / "grid.toml", place / "out", workers=1)
    return place / "out"


def test_lines_are_means_over_seeds_and_runs(folder: Path) -> None:
    import pyarrow.parquet as pq

    summary = summarize(folder)
    assert (summary.finished, summary.cells) == (8, 8)
    assert [(line.environment, line.learner, line.epsilon) for line in summary.lines] == [
        ("random:3,2,3,1", "ldp-obi", 2.0),
        ("random:3,2,3,1", "ucb-vi", math.inf),
        ("riverswim:3,4", "ldp-obi", 2.0),
        ("riverswim:3,4", "ucb-vi", math.inf),
    ]
    rows = pq.read_table(folder / "results.parquet").to_pylist()
    for line in summary.lines:
        regrets = [
            row["regret"]
            for row in rows
            if row["episodes"] == 500
            and (row["environment"], row["learner"]) == (line.environment, line.learner)
        ]
        found = line.as_dict()
        assert found["runs"] == len(regrets) == 6
        assert found["regret"] == pytest.approx(np.mean(regrets))
        assert found["standard_error"] == pytest.approx(np.std(regrets, ddof=1) / math.sqrt(6))
        assert found["worst"] == max(regrets)


def test_one_run_has_no_standard_error(folder: Path) -> None:
    line = summarize(folder).lines[0]
    assert replace(line, curves=line.curves[:2]).as_dict()["standard_error"] > 0
    assert replace(line, curves=line.curves[:1]).as_dict()["standard_error"] is None


def test_a_share_learnt_is_what_ldprl_regret_calls_learned(folder: Path) -> None:
    for line in summarize(folder).lines:
        mdp = mdp_from(line.environment)
        shares: list[float | None] = []
        final: list[float] = []
        for seed in (0, 1):
            epsilon = None if math.isinf(line.epsilon) else line.epsilon
            learner, mechanism = build(
                line.learner, line.mechanism, mdp.shape, episodes=500, epsilon=epsilon
            )
            ended = simulate(mdp, learner, mechanism, 500, runs=3, seed=seed).statistics
            found = learnt(mdp, learner, ended)
            shares += found.learned
            final += found.final_value
        assert line.learnt.tolist() == shares
        assert (line.best_value, line.random_value) == (found.best_value, found.random_value)
        assert line.final_value == pytest.approx(np.mean(final))
        needed = line.as_dict()["users_needed"]
        assert line.significant or line.epsilon == math.inf or needed > 0


def test_half_a_run_is_shown_and_drawn(folder: Path) -> None:
    files = sorted((folder / "cells").iterdir())
    kept = [(file, file.read_bytes()) for file in files[:5]]
    try:
        for file, _ in kept:
            file.unlink()
        summary = summarize(folder)
        assert (summary.finished, summary.cells) == (3, 8)
        assert "3 of 8" in plot_experiment(summary).get_suptitle()
    finally:
        for file, content in kept:
            file.write_bytes(content)


def test_a_picture_has_a_panel_for_each_environment(folder: Path) -> None:
    titles = [axes.get_title(loc="left") for axes in plot_experiment(summarize(folder)).axes]
    assert titles == ["random:3,2,3,1", "riverswim:3,4"]


def test_another_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="a folder that ldprl run made"):
        summarize(tmp_path)


@pytest.mark.parametrize(
    ("pair", "words"),
    [
        ('learner = "ldp-obi"\nmechanism = "laplas"', r"pairs\[0\].mechanism = 'laplas'"),
        ('learner = "ucb-vi"\nmechanism = "laplace"', "needs exact sums"),
        ('mechanism = "laplace"', r"pairs\[0\] = .*a learner and a mechanism"),
        ('learner = "ldp-obi"\nmechanism = "laplace"\nepsilon = 1', "a learner and a mechanism"),
    ],
)
def test_bad_pairs_are_refused(pair: str, words: str) -> None:
    with pytest.raises(InputError, match=words):
        parse(f'environments = ["riverswim:3,4"]\nepisodes = 10\nepsilons = [1]\n[[pairs]]\n{pair}')


def test_pairs_stand_beside_the_product_each_once() -> None:
    text = (
        'environments = ["riverswim:3,4"]\nlearners = ["ldp-obi"]\nmechanisms = ["laplace"]\n'
        "epsilons = [1]\nepisodes = 10\n"
        '[[pairs]]\nlearner = "ldp-obi"\nmechanism = "laplace"\n'
        '[[pairs]]\nlearner = "ldp-psrl"\nmechanism = "randomized-response"\n'
    )
    cells = cells_of(parse(text), Path())
    assert [(cell.learner, cell.mechanism) for cell in cells] == [
        ("ldp-obi", "laplace"),
        ("ldp-psrl", "randomized-response"),
    ]
