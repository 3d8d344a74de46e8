"""``ldprl regret --env``: what is learnt where nobody has a model, and what is refused."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from ldprl import learn
from ldprl.cli.regret_env import _show

from .conftest import Run

SMALL = "regret --env CartPole-v1 --horizon 20 --episodes 600"
ENVS = "tests.worlds.own_envs"
OWN = "--episodes 300 --epsilon 1 --horizon 9"
DATA = "data.npz"
KEYS = {
    "regret",
    "mean_return",
    "final_return",
    "final_value",
    "start_value",
    "best_value",
    "learned",
    "episodes",
    "complete",
    "policy",
    "parameters",
    "horizon",
    "return_range",
    "scales",
    "unscaled",
    "guarantee",
    "seconds",
    "import_seconds",
}


@pytest.fixture(autouse=True)
def workplace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(Path(__file__).parents[2]))
    rng = np.random.default_rng(0)
    seen = rng.normal(size=(40, 2))
    np.savez(DATA, features=seen, rewards=np.column_stack([seen[:, 0] > 0, seen[:, 0] <= 0]))
    return tmp_path


def test_json_says_what_the_library_found(run: Run) -> None:
    outcome = run(f"{SMALL} --policy linear --epsilon 2 --runs 2 --seed 1001 --json")
    assert outcome.code == 0
    found = outcome.json
    assert set(found) == KEYS
    expected = learn("CartPole-v1", epsilon=2, users=600, horizon=20, runs=2, seed=1001)
    assert expected.regret is not None
    assert found["regret"] == expected.regret.tolist()
    assert found["mean_return"] == expected.mean_return.tolist()
    assert found["final_return"] == found["final_value"] == expected.final_return.tolist()
    assert found["guarantee"] == {"epsilon": 2.0, "delta": 0.0}
    assert (found["parameters"], found["best_value"], found["complete"]) == (10, 20.0, True)
    assert found["unscaled"] == ["cart velocity", "pole angular velocity"]
    for share, value in zip(found["learned"], found["final_value"], strict=True):
        start = found["start_value"]
        assert share == pytest.approx((value - start) / (20 - start))


def test_curves_come_if_they_are_asked_for(run: Run) -> None:
    found = run(f"{SMALL} --epsilon 2 --runs 2 --json --curves").json
    assert set(found) - KEYS == {"checkpoints", "curves"}
    assert [len(curve) for curve in found["curves"]] == [len(found["checkpoints"])] * 2
    assert [curve[-1] for curve in found["curves"]] == found["final_return"]


def test_where_the_best_is_not_known_no_regret_is_said(run: Run) -> None:
    line = f"regret --env {ENVS}:Echo {OWN} --return-range 0,6"
    found = run(f"{line} --json").json
    assert (found["regret"], found["best_value"], found["learned"]) == (None, None, None)
    said = run(line).out
    assert "handed out now" in said
    assert "regret" not in said


def test_the_table_says_what_enters_unscaled_and_how_to_scale_it(run: Run) -> None:
    out = run(f"{SMALL} --epsilon 2").out
    assert "--scale 4.8,1,0.41887903,1" in out
    assert "share of the gap closed" in out
    scaled = run(f"{SMALL} --epsilon 2 --scale 2.4,2,0.2,2").out
    assert "--scale" not in scaled


def test_a_share_of_nothing_has_no_sign(capsys: pytest.CaptureFixture[str]) -> None:
    found = learn("CartPole-v1", epsilon=2, users=30, horizon=20)
    worth = np.full_like(found.worth, 9.4)
    worth[:, -1] = 9.399
    _show(replace(found, worth=worth))
    assert "0.0% on average, 0.0% at least" in (out := capsys.readouterr().out)
    assert "-0.0%" not in out


@pytest.mark.parametrize("more", ["--policy network --hidden 3", "--mechanism none"])
def test_other_policies_and_no_privacy(run: Run, more: str) -> None:
    epsilon = "" if "none" in more else "--epsilon 2"
    found = run(f"{SMALL} {epsilon} {more} --json").json
    assert found["parameters"] == (23 if "network" in more else 10)
    assert (found["guarantee"]["epsilon"] is None) == ("none" in more)


def test_contexts_come_from_a_file(run: Run) -> None:
    found = run(f"regret --env {DATA} --epsilon 2 --episodes 3000 --json").json
    assert (found["horizon"], found["best_value"]) == (1, 1.0)
    assert found["learned"][0] > 0.3


def test_a_policy_to_start_from(run: Run, workplace: Path) -> None:
    from ldprl.policies.exported import export_policy

    policy = learn("CartPole-v1", epsilon=4, users=3000, horizon=60).policies[0]
    export_policy(policy, workplace / "start.json")
    line = "regret --env CartPole-v1 --horizon 60 --episodes 200 --epsilon 1 --json"
    assert run(f"{line} --start start.json").json["start_value"] > run(line).json["start_value"]


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("--mdp CartPole-v1", "no model: use --env CartPole-v1"),
        ("--mdp gym:CartPole-v1,50", "no model: use --env"),
        ("", "--mdp is missing: expected a world, or in its place an environment with --env"),
        ("--mdp riverswim:3,4 --policy linear", "policy = 'linear': expected none with --mdp"),
        ("--env CartPole-v1 --replan each", "replan = 'each': expected none with --env"),
        ("--env CartPole-v1 --mdp riverswim:3,4", "mdp = 'riverswim:3,4': expected none with"),
        ("--env CartPole-v1 --policy table", "continuous observations: choose --policy linear"),
        ("--env CartPole-v1 --curves", "curves = True: expected --json beside it"),
        ("--env CartPole-v1 --return-range 3", "2 numbers with a comma between them"),
        ("--env CartPole-v1 --return-range 5,3", "the least return below the largest"),
        ("--env CartPole-v1 --scale 3", "scale = (3.0,): expected 4 numbers"),
        ("--env CartPole-v1 --policy network --hidden 1.5", "whole numbers"),
        ("--env CartPole-v1 --start nowhere.onnx", "nowhere.onnx"),
        ("--env CartPole-v1 --start other.json", "start.features"),
        ("--env CartPole-v1 --policy network --start own.json", "start.kind = 'linear'"),
        ("--env CartPole-v1 --start broken.zip", "broken.zip"),
        ("--env CartPole-v1 --mechanism none", "epsilon = 1.0: expected none without privacy"),
        ("--env CartPole-v1 --learner ldp-obi", "threshold-bits goes with ldp-es"),
        (f"--env {ENVS}:Worded --return-range 0,6", 'observations = "Dict('),
        (f"--env {ENVS}:Echo", "--return-range is missing"),
        (f"--env {ENVS}:Echo --return-range 0,1", "contains all returns"),
        (f"--env {ENVS}:Priceless --return-range 0,6", "contains all returns"),
        (f"--env {ENVS}:Raising --return-range 0,6", "simulator lost its licence"),
        (f"--env {ENVS}:Raising --return-range 0,6 --runs 2 --workers 2", "lost its licence"),
        (f"--env {ENVS}:Quitting --return-range 0,6", "(SystemExit: 0)"),
        (f"--env {ENVS}:Quitting --return-range 0,6 --runs 2 --workers 2", "(SystemExit: 0)"),
        (f"--env {ENVS}:Blind --return-range 0,6", "finite numbers"),
        ("--env ended:main", "can be imported (SystemExit: 0)"),
        ("--env split:main", "can be imported (ValueError: two lines)"),
        (f"--env {ENVS}:Endless --return-range 0,6 --horizon", "--horizon is missing"),
        (f"--env {ENVS}:Nothing --return-range 0,6", "has no function 'Nothing'"),
        ("--env other.npz", "other.npz"),
    ],
)
def test_bad_input_is_one_line_and_leaves_nothing(
    run: Run, workplace: Path, monkeypatch: pytest.MonkeyPatch, line: str, said: str
) -> None:
    from ldprl.policies.exported import export_policy
    from ldprl.policies.parametric import ParametricPolicy
    from ldprl.worlds.sampled_from import sampled_from

    for name, env in (("own", "CartPole-v1"), ("other", "MountainCar-v0")):
        problem = sampled_from(env).problem
        export_policy(ParametricPolicy(problem, problem.start.astype(float)), f"{name}.json")
    Path("broken.zip").write_bytes(b"PK not a zip")
    Path("ended.py").write_text("raise SystemExit(0)")
    Path("split.py").write_text("raise ValueError('two\\nlines')")
    # Whether Python keeps the bytecode of a module is not ours to say.
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    before = sorted(workplace.iterdir())
    cut = "" if line.endswith("--horizon") or ENVS not in line else "--horizon 9"
    outcome = run(f"regret --episodes 300 --epsilon 1 {line.removesuffix('--horizon')} {cut}")
    assert (outcome.code, outcome.out) == (2, "")
    assert outcome.err.count("\n") == 1, outcome.err
    assert outcome.err.startswith("error: ")
    assert said in outcome.err
    assert sorted(workplace.iterdir()) == before


@pytest.mark.slow
@pytest.mark.parametrize("workers", [1, 2])
def test_ctrl_c_leaves_what_there_is(workers: int) -> None:
    line = (
        f"regret --env {ENVS}:Echo --epsilon 1 --episodes 1e7 --runs 3 --horizon 9"
        f" --return-range 0,6 --workers {workers} --json"
    )
    running = subprocess.Popen(
        [sys.executable, "-m", "ldprl", *line.split()],
        env=os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    with running:
        assert running.stderr is not None
        first = running.stderr.readline()
        os.killpg(running.pid, signal.SIGINT)  # as a terminal does
        out, err = running.communicate(timeout=60)
    assert "of 30,000,000 users" in first
    assert running.returncode == 130
    found = json.loads(out)
    assert 0 < found["episodes"] < 1e7
    assert (found["complete"], len(found["final_return"])) == (False, 1)
    assert "stopped: this is what 1 of 3 runs" in err
    assert "Traceback" not in err
