"""``ldprl advise`` answers in words, in JSON and in a picture."""

from __future__ import annotations

from pathlib import Path

import pytest

from ldprl.advice.pairs import PREFERRED, Pair
from ldprl.mdp import random_mdp

from .conftest import Run

FEW = (PREFERRED, Pair("ldp-evi", "gaussian"), Pair("ldp-obi", "laplace"))
SMALL = "advise --states 2 --actions 2 --horizon 2 --users 2e3 --runs 1 --workers 1"


@pytest.fixture(autouse=True)
def few_pairs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Advise on a few pairs: all of them are simulated in the tests of forecasts."""
    monkeypatch.setattr("ldprl.advice.adviser.PAIRS", FEW)


def test_the_answer_at_one_epsilon(run: Run) -> None:
    outcome = run(f"{SMALL} --epsilon 2")
    assert outcome.code == 0
    assert all("forecasts" in line for line in outcome.err.splitlines())
    for pair in FEW:
        assert f"{pair.learner}, {pair.mechanism}" in outcome.out
        assert pair.promise in outcome.out
    for text in ("At ε = 2 ", "Policy loss is", "δ = 1e-06", "What would change it"):
        assert text in outcome.out


def test_without_epsilon_there_is_a_grid(run: Run, tmp_path: Path) -> None:
    picture = tmp_path / "advice.png"
    outcome = run(f"{SMALL} --target-loss 0.3 --plot {picture}")
    assert outcome.code == 0
    assert "the ε that a loss of 0.3 needs" in outcome.out
    for level in ("0.1", "0.3", "1", "3", "10", "needed"):
        assert level in outcome.out.split("needed")[0] + "needed"
    assert picture.read_bytes().startswith(b"\x89PNG")


def test_json_is_the_same_whatever_the_number_of_workers(run: Run) -> None:
    line = "advise --states 2 --actions 2 --horizon 2 --users 500 --runs 1 --seed 5 --json"
    alone, two = run(f"{line} --workers 1"), run(f"{line} --workers 2")
    assert alone.code == 0
    assert all("forecasts" in line for line in alone.err.splitlines())
    assert alone.out == two.out
    assert alone.json["recommendation"]["sentence"]
    assert len(alone.json["pairs"]) == len(FEW)


def test_a_world_of_ones_own(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "world.json"
    path.write_text(random_mdp(2, 3, 2, seed=3).to_json(), encoding="utf-8")
    line = f"advise --mdp {path} --users 200 --runs 1 --workers 1 --epsilon 1 --json"
    found = run(line).json
    assert (found["states"], found["actions"], found["horizon"]) == (2, 3, 2)
    assert found["worlds"] == ["the given MDP"]
    assert run(f"{line} --actions 3").json == found


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("advise --users 10 --states 2 --actions 2", "--horizon is missing"),
        ("advise --users 10 --mdp random:2,2,2,3 --states 3", "states = 3: expected 2"),
        (f"{SMALL} --epsilon nan", "epsilon = nan"),
        (f"{SMALL} --epsilon 1e-9", "epsilon = 1e-09: expected a number from 0.001 to 100"),
        (f"{SMALL} --target-loss 2", "target_loss = 2.0"),
        (f"{SMALL} --delta 0", "delta = 0.0"),
        (f"{SMALL} --runs 0", "runs = '0'"),
        (f"{SMALL} --workers 0", "workers = '0'"),
        (f"{SMALL} --plot x.txt", "ends in .png"),
        (f"{SMALL} --plot no/such/folder/x.png", "folder that exists"),
        ("advise --users 10 --states 2 --actions 1 --horizon 2", "actions = 1"),
        ("advise --users 10 --mdp nowhere.json", "nowhere.json"),
    ],
)
def test_bad_input_is_one_line(run: Run, line: str, said: str) -> None:
    outcome = run(line)
    assert (outcome.code, outcome.out) == (2, "")
    assert said in outcome.err
    assert len(outcome.err.splitlines()) == 1


def test_an_interrupt_ends_quietly(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("ldprl.advice.forecast.simulate", interrupted)
    outcome = run(f"{SMALL} --epsilon 1")
    assert (outcome.code, outcome.out, outcome.err.strip()) == (130, "", "")
