"""Which cells a grid has, and what makes two of them the same."""

from __future__ import annotations

import json
import pickle
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

import ldprl
from ldprl.errors import InputError
from ldprl.experiments.cells import Cell, StoppedError, cells_of
from ldprl.experiments.schema import parse
from ldprl.worlds import random_mdp, riverswim

EXAMPLES = Path(__file__).parents[2] / "examples" / "experiments"
GRID = """
environments = ["random:3,2,3,1", "riverswim:3,4"]
learners = ["ucb-vi", "ldp-obi", "ldp-psrl"]
mechanisms = ["none", "laplace", "gaussian"]
epsilons = [0.5, 2]
constants = ["sound", "paper"]
seeds = [0, 1, 2]
episodes = 50
delta = 0.1
"""


def cells(text: str = GRID, folder: Path = Path()) -> list[Cell]:
    return [cell for cell in cells_of(parse(text), folder) if isinstance(cell, Cell)]


def test_learners_without_privacy_run_once_and_the_others_with_every_mechanism() -> None:
    found = Counter((cell.learner, cell.mechanism, cell.epsilon) for cell in cells())
    each = 2 * 2 * 3  # environments × constants × seeds
    expected: dict[tuple[str, str, float | None], int] = {("ucb-vi", "none", None): each}
    for learner in ("ldp-obi", "ldp-psrl"):
        expected[learner, "none", None] = each
        for mechanism in ("laplace", "gaussian"):
            for epsilon in (0.5, 2.0):
                expected[learner, mechanism, epsilon] = each
    assert found == expected


def test_identities_differ_between_cells_and_not_between_readings() -> None:
    identities = [cell.identity for cell in cells()]
    assert len(set(identities)) == len(identities)
    assert [cell.identity for cell in cells()] == identities


@pytest.mark.parametrize(
    "line", ["runs = 2", "replan = 'each'", "failure_probability = 0.2", "alpha = 3"]
)
def test_identity_hangs_on_every_parameter(line: str) -> None:
    before = {cell.identity for cell in cells()}
    after = {cell.identity for cell in cells(GRID + line)}
    assert not before & after


def test_identity_hangs_on_the_version(monkeypatch: pytest.MonkeyPatch) -> None:
    before = {cell.identity for cell in cells()}
    monkeypatch.setattr(ldprl, "__version__", "999")
    assert not before & {cell.identity for cell in cells()}


def test_identity_hangs_on_what_is_in_the_file_of_an_environment(tmp_path: Path) -> None:
    text = GRID.replace("random:3,2,3,1", "world.json")
    world = tmp_path / "world.json"
    world.write_text(random_mdp(2, 2, 2, 0).to_json(), encoding="utf-8")
    before = cells(text, tmp_path)
    world.write_text(riverswim(2, 2).to_json(), encoding="utf-8")
    after = cells(text, tmp_path)
    changed = {
        old.environment
        for old, new in zip(before, after, strict=True)
        if old.identity != new.identity
    }
    assert changed == {"world.json"}


@pytest.mark.parametrize(
    ("old", "new", "field"),
    [
        ("delta = 0.1", "delta = 0.0", "delta"),
        ("riverswim:3,4", "rivrswim:3,4", "mdp"),
        ("riverswim:3,4", "missing.json", "MDP file"),
        ("delta = 0.1", "delta = 0.1\nalpha = 1", "alpha"),
        ("0.5, 2", "1e9", "epsilon"),
    ],
)
@pytest.mark.filterwarnings("ignore::ldprl.PrivacyWarning")
def test_what_cannot_be_built_is_refused_before_anything_runs(
    old: str, new: str, field: str
) -> None:
    with pytest.raises(InputError) as refusal:
        cells(GRID.replace(old, new))
    assert refusal.value.field == field


def test_a_cell_computes_what_simulate_does() -> None:
    cell = cells()[-1]
    learner, mechanism = cell.build()
    direct = ldprl.simulate(
        cell.mdp, learner, mechanism, cell.episodes, cell.runs, cell.seed, cell.replan
    )
    travelled: Cell = pickle.loads(pickle.dumps(cell))
    np.testing.assert_array_equal(travelled.compute().curves, direct.curves)


def test_a_failure_names_its_cell_and_travels(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise InputError("x", 1, "2")

    monkeypatch.setattr("ldprl.experiments.cells.simulate", fail)
    with pytest.raises(StoppedError) as failure:
        cells()[0].compute()
    message = str(pickle.loads(pickle.dumps(failure.value)))
    assert "ucb-vi with none (sound) in random:3,2,3,1, seed 0 failed" in message
    assert "x = 1: expected 2" in message


@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("*.toml")), ids=lambda path: path.stem)
def test_examples_can_be_read(path: Path) -> None:
    assert cells(path.read_text(encoding="utf-8"), path.parent)


def test_what_is_publicly_known_comes_from_a_file(tmp_path: Path) -> None:
    known = {"groups": [0, 1, 1]}
    (tmp_path / "known.json").write_text(json.dumps(known), encoding="utf-8")
    grid = 'environments = ["random:3,2,3,1"]\nlearners = ["ldp-evi"]\nepisodes = 5\n'
    (informed,) = cells(f'{grid}structure = "known.json"', tmp_path)
    (other,) = cells(grid, tmp_path)
    assert informed.mdp.structure is not None
    assert informed.mdp.structure.parts == ["groups"]
    assert informed.identity != other.identity
    with pytest.raises(InputError, match=r"no\.json"):
        cells(f'{grid}structure = "no.json"', tmp_path)
