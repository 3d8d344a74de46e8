"""``ldprl regret`` says what the library computes, in JSON and in words."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from ldprl.catalogue import LEARNERS, build, parameters_of
from ldprl.learnt.share import rounded
from ldprl.mechanisms.by_name import MECHANISMS
from ldprl.mechanisms.mechanism import Mechanism
from ldprl.simulation.engine import Simulation, simulate
from ldprl.worlds import random_mdp

from .conftest import Run

SMALL = "regret --mdp random:2,2,2,3 --episodes 300 --replan growth:0.3"


def test_json_has_the_fields_and_lengths_that_it_should(run: Run) -> None:
    line = f"{SMALL} --epsilon 2 --runs 3 --json"
    outcome = run(f"{line} --curves")
    found = outcome.json
    assert (outcome.code, outcome.err) == (0, "")
    assert set(found) - set(run(line).json) == {"checkpoints", "curves"}
    assert set(found) == {
        "regret",
        "best_value",
        "random_value",
        "final_value",
        "learned",
        "luck",
        "users_needed",
        "checkpoints",
        "curves",
        "episodes",
        "guarantee",
        "seconds",
        "import_seconds",
        "compile_seconds",
    }
    assert found["episodes"] == found["checkpoints"][-1] == 300
    assert found["guarantee"] == {"epsilon": 2.0, "delta": 0.0}
    assert len(found["regret"]) == len(found["curves"]) == 3
    assert len(found["final_value"]) == len(found["learned"]) == 3
    gap = found["best_value"] - found["random_value"]
    for value, share in zip(found["final_value"], found["learned"], strict=True):
        assert share == pytest.approx((value - found["random_value"]) / gap)
    for total, curve in zip(found["regret"], found["curves"], strict=True):
        assert len(curve) == len(found["checkpoints"])
        assert curve == sorted(curve)
        assert curve[-1] == total
    assert found["seconds"] > 0


def test_it_is_the_library_that_computes(run: Run) -> None:
    mdp = random_mdp(2, 2, 2, seed=3)
    learner, mechanism = build(
        "ldp-psrl",
        "gaussian",
        mdp.shape,
        episodes=300,
        epsilon=1.5,
        delta=0.01,
        constants="paper",
        failure_probability=0.2,
    )
    expected = simulate(mdp, learner, mechanism, 300, runs=2, seed=7, replan="growth:0.3")
    line = f"{SMALL} --learner ldp-psrl --mechanism gaussian --constants paper --epsilon 1.5"
    found = run(
        f"{line} --delta 0.01 --failure-probability 0.2 --runs 2 --seed 7 --json --curves"
    ).json
    np.testing.assert_array_equal(found["curves"], expected.curves)
    np.testing.assert_array_equal(found["checkpoints"], expected.checkpoints)


@pytest.mark.parametrize("changed", ["--alpha 5", "--failure-probability 1e-6"])
def test_the_learners_parameters_reach_it(run: Run, changed: str) -> None:
    line = "regret --mdp random:2,2,2,3 --learner ldp-obi --episodes 1e5 --replan growth:0.3"
    line = f"{line} --epsilon 9 --json"
    assert run(line).json["regret"] != run(f"{line} {changed}").json["regret"]


def test_the_same_seed_gives_the_same_runs_and_another_does_not(run: Run) -> None:
    line = f"{SMALL} --epsilon 2 --runs 2 --json"
    first, again = run(f"{line} --seed 5").json, run(f"{line} --seed 5").json
    other = run(f"{line} --seed 6").json
    assert first["regret"] == again["regret"] != other["regret"]


def nobody(
    mdp: object, agent: object, mechanism: Mechanism, *_: object, **__: object
) -> Simulation:
    """Simulate no run at all."""
    return Simulation(np.array([300]), np.zeros((0, 1)), mechanism.guarantee, 0.0)


LEVEL = {"epsilon": 2, "delta": 0.1}


@pytest.mark.parametrize("learner", LEARNERS)
@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_every_pair_is_taken_or_refused(
    run: Run, monkeypatch: pytest.MonkeyPatch, learner: str, mechanism: str
) -> None:
    """What is taken is simulated in the tests of simulation; here nothing has to be compiled."""
    monkeypatch.setattr("ldprl.simulation.engine.simulate", nobody)
    used = parameters_of(learner, mechanism)
    level = " ".join(f"--{name} {value}" for name, value in LEVEL.items() if name in used)
    outcome = run(f"{SMALL} --learner {learner} --mechanism {mechanism} {level} --json")
    kind = LEARNERS[learner]
    if kind.statistics_kind != MECHANISMS[mechanism].statistics_kind and (
        kind.private or mechanism == "none"
    ):
        assert (outcome.code, outcome.out) == (2, "")
        assert outcome.err.startswith(f"error: mechanism = '{mechanism}': expected one of")
    elif (learner, mechanism) == ("ldp-psrl", "subset-selection"):
        assert (outcome.code, outcome.out) == (2, "")
        assert "squared rewards" in outcome.err
    elif kind.private and mechanism == "threshold-bits":
        assert (outcome.code, outcome.out) == (2, "")
        assert "policies with parameters" in outcome.err
    elif (learner, mechanism) == ("ldp-ways", "return-bits"):
        assert (outcome.code, outcome.out) == (2, "")
        assert "expected 'bits-and-moves' with ldp-ways" in outcome.err
    elif kind.private or mechanism == "none":
        assert outcome.code == 0
        epsilon = outcome.json["guarantee"]["epsilon"]
        assert epsilon == (None if mechanism == "none" else 2.0)
    else:
        assert (outcome.code, outcome.out) == (2, "")
        assert outcome.err.startswith(f"error: mechanism = '{mechanism}': expected 'none'")


@pytest.mark.parametrize(
    "world",
    ["riverswim:3,4", "grid:2,2,3", "hard-tree:4,2,4,1000,1.0", "random:1,1,1,0"],
)
def test_every_family_runs(run: Run, world: str) -> None:
    line = f"--mdp {world} --episodes 1e2 --epsilon 1 --replan growth:1 --json"
    assert run(f"regret {line}").code == 0


def test_an_mdp_from_a_file_is_the_one_that_was_written(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "world.json"
    path.write_text(random_mdp(2, 2, 2, seed=3).to_json(), encoding="utf-8")
    line = "--episodes 300 --replan growth:0.3 --epsilon 2 --json"
    assert (
        run(f"regret --mdp {path} {line}").json["regret"]
        == run(f"{SMALL} --epsilon 2 --json").json["regret"]
    )


def test_counts_may_be_written_as_powers_of_ten(run: Run) -> None:
    line = "regret --mdp random:2,2,2,3 --learner ldp-obi --replan growth:1 --epsilon 2 --json"
    found = run(f"{line} --episodes 1e8 --runs 2e0 --seed 1e3").json
    assert found["episodes"] == 10**8
    assert len(found["regret"]) == 2


def test_without_json_there_is_a_table(run: Run) -> None:
    outcome = run(f"{SMALL} --mechanism none --runs 2")
    assert outcome.code == 0
    for word in ("users", "mean", "least", "most", "per user", "guarantee", "none", "seconds"):
        assert word in outcome.out


def test_joint_privacy_is_told_apart_from_local(run: Run) -> None:
    line = f"{SMALL} --learner studies.rivals:PUCB --epsilon 2"
    assert "joint, ε = 2: the service sees true data" in run(line).out
    assert run(f"{line} --json").json["guarantee"] == {
        "epsilon": None,
        "delta": 0.0,
        "joint_epsilon": 2.0,
    }
    assert "joint" not in run(f"{SMALL} --epsilon 2").out


def test_each_warning_is_one_line_on_stderr_and_json_stays_pure(run: Run) -> None:
    line = f"{SMALL} --mechanism gaussian --constants paper --epsilon 20 --delta 0.1 --json"
    outcome = run(line)
    assert outcome.code == 0
    # The paper's constants do not give their δ, and the δ that they give is not below 1/users.
    assert [line.startswith("warning: ") for line in outcome.err.splitlines()] == [True, True]
    exact = f"{outcome.json['guarantee']['delta']:.3g}"
    assert all(exact in line for line in outcome.err.splitlines())


@pytest.mark.parametrize(
    ("world", "users", "learner", "mechanism"),
    [
        ("random:1,2,1,0", "50", "ldp-returns", "return-bits"),
        ("random:3,2,2,0", "50", "ldp-returns", "return-bits"),
        ("random:3,2,2,0", "5e4", "ldp-ts", "subset-selection"),
        ("random:12,2,2,0", "5e4", "ldp-returns", "return-bits"),
        ("random:25,2,2,0", "50", "ldp-ways", "bits-and-moves"),
    ],
)
def test_the_recommended_pair_is_the_default(
    run: Run, world: str, users: str, learner: str, mechanism: str
) -> None:
    line = f"regret --mdp {world} --episodes {users} --replan growth:1 --epsilon 2"
    named = f"{line} --learner {learner} --mechanism {mechanism} --json"
    assert run(f"{line} --json").json["regret"] == run(named).json["regret"]
    assert learner in run(line).out


def test_one_arm_has_no_gap_to_close(run: Run) -> None:
    line = "regret --mdp random:1,1,1,0 --episodes 20 --replan growth:1 --epsilon 2"
    assert run(f"{line} --json").json["learned"] == [None]
    assert "no gap" in run(line).out


def test_it_says_that_nothing_is_learnt_and_how_many_users_are_needed(run: Run) -> None:
    line = "regret --mdp grid:5,5,10 --episodes 50 --replan growth:1"
    needed = run(f"{line} --epsilon 2 --json").json["users_needed"]
    assert 10**4 < needed < 10**6
    printed = run(f"{line} --epsilon 2").out
    assert f"Nothing learnt yet; at ε = 2 about {rounded(needed)} users are needed" in printed
    assert run(f"{line} --mechanism none --learner ldp-evi --json").json["users_needed"] is None


def test_what_is_publicly_known_is_read_from_a_file(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "known.json"
    path.write_text('{"admissible": [[0], [0, 1], [1]]}', encoding="utf-8")
    line = f"regret --mdp random:3,2,3,1 --structure {path} --epsilon 2 --replan growth:1"
    found = run(f"{line} --episodes 50 --learner ldp-returns --json").json
    free = run("regret --mdp random:3,2,3,1 --epsilon 2 --episodes 10 --json").json
    assert found["best_value"] <= free["best_value"]
    assert found["best_value"] - found["random_value"] != free["best_value"] - free["random_value"]
    outcome = run(f"{line} --episodes 50 --learner ldp-obi")
    assert (outcome.code, outcome.out) == (2, "")
    assert "keeps to admissible actions" in outcome.err


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("", "JSON"),
        ('{"admissible": [[0], [], [1]]}', "structure.admissible[1]"),
        ('{"groups": [0, 0]}', "structure.groups"),
        ('{"successors": [[0], [0], [0]]}', "in this MDP"),
        ('{"group": [0, 0, 0]}', "did you mean 'groups'?"),
    ],
)
def test_knowledge_that_contradicts_itself_or_the_mdp_is_refused(
    run: Run, tmp_path: Path, content: str, words: str
) -> None:
    path = tmp_path / "known.json"
    path.write_text(content, encoding="utf-8")
    outcome = run(f"regret --mdp random:3,2,3,1 --structure {path} --epsilon 2 --episodes 50")
    assert (outcome.code, outcome.out) == (2, "")
    assert len(outcome.err.splitlines()) == 1
    assert words in outcome.err


def test_what_a_learner_does_not_use_is_said(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "known.json"
    known = '{"groups": [0, 0, 1], "successors": [[0, 1, 2], [0, 1, 2], [0, 1, 2]]}'
    path.write_text(known, encoding="utf-8")
    line = f"regret --mdp random:3,2,3,1 --structure {path} --epsilon 2 --episodes 50 --json"
    outcome = run(f"{line} --learner ldp-ts --replan growth:1")
    assert outcome.code == 0
    assert outcome.err == "warning: ldp-ts does not use: groups\n"
    outcome = run(f"{line} --learner ldp-obi")
    assert (outcome.code, outcome.out) == (2, "")
    assert outcome.err.startswith("error: structure = 'successors, groups': expected none with")
