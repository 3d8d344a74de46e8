"""``module:Class`` names a learner or a mechanism of one's own wherever a name is taken."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from .conftest import Run

OWN = Path(__file__).parents[1] / "own"
LEARNER, MECHANISM = "eps_greedy:EpsGreedy", "one_of_all:OneOfAll"
SIZES = ["--states", "2", "--actions", "2", "--horizon", "2", "--epsilon", "1"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with modules of one's own in it, which nobody has installed."""
    made = tmp_path_factory.mktemp("mine")
    for name in ("eps_greedy.py", "one_of_all.py", "place.py"):
        text = (OWN / name).read_text(encoding="utf-8").replace("tests.own.", "")
        (made / name).write_text(text, encoding="utf-8")
    return made


def ldprl(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    # The installed script, whose folder is not the one that the user stands in.
    line = [sys.executable, str(Path(sys.executable).with_name("ldprl")), *words]
    return subprocess.run(line, cwd=folder, capture_output=True, text=True, check=False)


def test_regret(folder: Path) -> None:
    sizes = ["--mdp", "random:2,2,2,3", "--epsilon", "2", "--episodes", "1000"]
    done = ldprl(folder, "regret", "--learner", LEARNER, "--mechanism", MECHANISM, *sizes, "--json")
    assert (done.returncode, done.stderr) == (0, "")
    assert json.loads(done.stdout)


@pytest.mark.parametrize("command", ["statement", "audit --samples 2000", "statement profile"])
def test_what_asks_a_mechanism_alone(folder: Path, command: str) -> None:
    done = ldprl(folder, *command.split(), "--mechanism", MECHANISM, *SIZES, "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)


def test_advice(folder: Path) -> None:
    world = ["--mdp", "random:2,2,2,3", "--epsilon", "2", "--users", "200", "--runs", "1"]
    done = ldprl(folder, "advise", "--learner", LEARNER, "--mechanism", MECHANISM, *world, "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["recommendation"]["learner"] == LEARNER


def test_an_experiment(folder: Path) -> None:
    (folder / "mine.toml").write_text(
        f'environments = ["random:2,2,2,3"]\nlearners = ["{LEARNER}", "ldp-obi"]\n'
        f'mechanisms = ["{MECHANISM}"]\nepsilons = [1.0]\nepisodes = 1000\nruns = 1\n'
        "seeds = [1]\n",
        encoding="utf-8",
    )
    done = ldprl(folder, "run", "mine.toml", "--out", "out", "--workers", "1")
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("nowhere:EpsGreedy", "no module named 'nowhere'"),
        ("eps_greedy:Greedy", "eps_greedy has no class 'Greedy'"),
        ("thing:Thing", "Thing is not a Learner"),
        ("eps_greedy:Learner", "lacks plan"),
        ("eps_greedy", "expected one of"),
        ("broken:Any", "a module that can be imported (ZeroDivisionError"),
    ],
)
def test_a_typo_is_one_line_and_exit_2(
    folder: Path, run: Run, monkeypatch: pytest.MonkeyPatch, name: str, expected: str
) -> None:
    (folder / "broken.py").write_text("1 / 0\n", encoding="utf-8")
    (folder / "thing.py").write_text("class Thing: ...\n", encoding="utf-8")
    monkeypatch.syspath_prepend(folder)
    refused = run(f"regret --mdp random:2,2,2,3 --epsilon 2 --episodes 10 --learner {name}")
    for module in ("eps_greedy", "thing", "broken"):
        sys.modules.pop(module, None)
    assert (refused.code, refused.out) == (2, "")
    assert len(refused.err.strip().splitlines()) == 1
    assert expected in refused.err
