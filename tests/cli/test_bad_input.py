"""Bad input ends with one line that names field, value and expectation, exit 2, and no output."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ldprl.worlds.specification import mdp_from

from .conftest import Outcome, Run

LINE = "regret --mdp random:2,2,2,3 --episodes 100 --epsilon 2 --json"
WORLD: dict[str, Any] = {
    "horizon": 2,
    "transitions": [[[0.5, 0.5], [1, 0]], [[0, 1], [0.25, 0.75]]],
    "rewards": [[0, 1], [1, 0.5]],
    "initial": [0.5, 0.5],
    "reward_kind": "deterministic",
}


def refused(outcome: Outcome, *words: str) -> None:
    assert (outcome.code, outcome.out) == (2, "")
    assert len(outcome.err.splitlines()) == 1, outcome.err
    assert outcome.err.startswith("error: ")
    assert "expected" in outcome.err
    for word in words:
        assert word in outcome.err


@pytest.mark.parametrize("value", ["0", "-1", "nan", "inf", "1e300"])
@pytest.mark.parametrize("mechanism", ["laplace", "none"])
def test_epsilon(run: Run, mechanism: str, value: str) -> None:
    outcome = run(f"{LINE} --mechanism {mechanism} --epsilon {value}")
    refused(outcome, "epsilon = ", repr(float(value)), "(see --epsilon)")


def test_a_private_mechanism_without_epsilon(run: Run) -> None:
    outcome = run(
        "regret --mdp random:2,2,2,3 --episodes 100 --learner ldp-obi --mechanism laplace"
    )
    refused(outcome, "error: --epsilon is missing: ", "laplace")


@pytest.mark.parametrize("option", ["epsilon", "delta", "alpha", "failure-probability"])
def test_words_for_numbers(run: Run, option: str) -> None:
    outcome = run(f"{LINE} --{option} two")
    refused(outcome, f"{option.replace('-', '_')} = 'two'", "a number", f"(see --{option})")


@pytest.mark.parametrize("value", ["1", "-0.1", "nan", "inf"])
@pytest.mark.parametrize("mechanism", ["laplace", "gaussian"])
def test_delta_outside_its_range(run: Run, mechanism: str, value: str) -> None:
    outcome = run(f"{LINE} --mechanism {mechanism} --delta {value}")
    refused(outcome, "delta = ", repr(float(value)), "(see --delta)")


@pytest.mark.parametrize("mechanism", ["gaussian", "bounded-noise"])
@pytest.mark.parametrize("given", ["", "--delta 0"])
def test_no_delta_where_one_is_needed(run: Run, mechanism: str, given: str) -> None:
    outcome = run(f"{LINE} --mechanism {mechanism} {given}")
    refused(outcome, "delta = 0.0", mechanism, "(see --delta)")


@pytest.mark.parametrize("value", ["1", "0.5", "nan", "inf"])
@pytest.mark.parametrize("learner", ["ldp-obi", "ldp-psrl"])
def test_alpha(run: Run, learner: str, value: str) -> None:
    refused(run(f"{LINE} --learner {learner} --alpha {value}"), "alpha = ", "> 1", "(see --alpha)")


@pytest.mark.parametrize("value", ["0", "1", "-1", "nan"])
@pytest.mark.parametrize("learner", ["ldp-obi", "psrl"])
def test_failure_probability(run: Run, learner: str, value: str) -> None:
    outcome = run(f"{LINE} --learner {learner} --failure-probability {value}")
    refused(outcome, "failure_probability = ", "(0, 1)", "(see --failure-probability)")


@pytest.mark.parametrize("field", ["episodes", "runs"])
@pytest.mark.parametrize("value", ["1.5", "0", "-3", "nan", "inf", "1e400", "1e30", "many", ""])
def test_counts(run: Run, field: str, value: str) -> None:
    outcome = run(LINE, f"--{field}={value}")
    refused(outcome, f"{field} = {value!r}", "a whole number", f"(see --{field})")


@pytest.mark.parametrize("value", ["-1", "0.5", "x"])
def test_seed(run: Run, value: str) -> None:
    refused(run(f"{LINE} --seed {value}"), f"seed = {value!r}", "(see --seed)")


@pytest.mark.parametrize(
    "value", ["growth", "growth:", "growth:x", "growth:0", "growth:nan", "Each"]
)
def test_replan(run: Run, value: str) -> None:
    refused(run(f"{LINE} --replan {value}"), " = ")


@pytest.mark.parametrize(
    ("option", "value", "nearest"),
    [
        ("mechanism", "laplas", "laplace"),
        ("mechanism", "randomised-response", "randomized-response"),
        ("learner", "ldpobi", "ldp-obi"),
        ("constants", "papper", "paper"),
        ("mdp", "riverswin:4,6", "riverswim"),
    ],
)
def test_unknown_names_get_the_nearest_suggested(
    run: Run, option: str, value: str, nearest: str
) -> None:
    refused(
        run(f"{LINE} --{option} {value}"), value.partition(":")[0], f"did you mean {nearest!r}?"
    )


@pytest.mark.parametrize(
    "world",
    [
        "random:2,2,2",
        "random:2,2,0,1",
        "random:2,2,2,-1",
        "random:2.5,2,2,1",
        "random:nan,2,2,1",
        "riverswim:x,2",
        "grid:0,2,2",
        "hard-tree:4,2,4,100,-1",
        "",
    ],
)
def test_worlds_that_do_not_exist(run: Run, world: str) -> None:
    refused(run(LINE, "--mdp", world), " = ")


@pytest.mark.parametrize(
    ("field", "value", "words"),
    [
        ("transitions", [[[0.5, 0.4], [1, 0]], [[0, 1], [0, 1]]], ("transitions[0, 0]", "0.9")),
        ("transitions", [[[1.5, -0.5], [1, 0]], [[0, 1], [0, 1]]], ("transitions[0, 0, 0]", "1.5")),
        ("transitions", [[[1, 0], [1]], [[0, 1], [0, 1]]], ("transitions",)),
        ("transitions", float("nan"), ("nan",)),
        ("rewards", [[0, 1], [1, float("nan")]], ("rewards[1, 1]", "nan")),
        ("rewards", [[0, 1], [1, float("inf")]], ("rewards[1, 1]", "inf")),
        ("rewards", [[0, 1], [1, 1.01]], ("rewards[1, 1]", "1.01", "[0, 1]")),
        ("rewards", [[0, 1], [-0.01, 1]], ("rewards[1, 0]", "-0.01", "[0, 1]")),
        ("initial", [0.5, 0.6], ("initial", "1.1")),
        ("initial", [float("nan"), 0.5], ("initial[0]", "nan")),
        ("horizon", 0, ("horizon = 0", "from 1 to")),
        ("horizon", -2, ("horizon = -2", "from 1 to")),
        ("horizon", 1.5, ("horizon = 1.5", "from 1 to")),
        ("reward_kind", "bernouli", ("reward_kind", "did you mean 'bernoulli'?")),
    ],
)
def test_mdp_files_with_a_bad_field(
    run: Run, tmp_path: Path, field: str, value: object, words: tuple[str, ...]
) -> None:
    path = tmp_path / "world.json"
    path.write_text(json.dumps(WORLD | {field: value}), encoding="utf-8")
    refused(run(f"{LINE} --mdp {path}"), *words)


def test_the_file_that_these_break_is_good(tmp_path: Path) -> None:
    path = tmp_path / "world.json"
    path.write_text(json.dumps(WORLD), encoding="utf-8")
    assert mdp_from(str(path)).shape.states == len(WORLD["initial"])


@pytest.mark.parametrize("field", ["horizon", "transitions", "rewards"])
def test_mdp_files_without_a_field(run: Run, tmp_path: Path, field: str) -> None:
    path = tmp_path / "world.json"
    rest = {name: value for name, value in WORLD.items() if name != field}
    path.write_text(json.dumps(rest), encoding="utf-8")
    refused(run(f"{LINE} --mdp {path}"), field)


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{",
        json.dumps(WORLD).encode()[:60],
        b"[1, 2]",
        b"null",
        b"\xff\xfe\x00",
        b"[" * 100_000,
    ],
    ids=["empty", "open", "truncated", "list", "null", "binary", "deep"],
)
def test_files_that_are_no_mdp(run: Run, tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "world.json"
    path.write_bytes(content)
    refused(run(f"{LINE} --mdp {path}"))


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"transitions": np.full((2, 2, 2), np.nan)}, ("transitions[0, 0, 0]", "nan")),
        ({"rewards": np.zeros((3, 2))}, ("rewards.shape = (3, 2)",)),
        ({"rewards": np.array([[print]], dtype=object)}, ("rewards", "numbers")),
        ({"transitions": np.zeros((1, 2**26 + 1, 1), dtype=bool)}, ("transitions", "at most")),
    ],
    ids=["NaN", "shape", "pickle", "bomb"],
)
def test_archives_that_are_no_mdp(
    run: Run, tmp_path: Path, changes: dict[str, Any], words: tuple[str, ...]
) -> None:
    path = tmp_path / "world.npz"
    np.savez_compressed(path, **(WORLD | changes))
    refused(run(f"{LINE} --mdp {path}"), *words)


def test_a_file_that_is_not_there(run: Run, tmp_path: Path) -> None:
    refused(run(f"{LINE} --mdp {tmp_path}/nowhere.json"), "nowhere.json")


def test_bad_input_writes_nothing(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    run(f"{LINE} --epsilon -1")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("--states 0", ("states = '0'",)),
        ("--horizon nan", ("horizon = 'nan'",)),
        ("--episodes 0", ("episodes = '0'",)),
        ("--epsilon 0", ("epsilon = 0.0",)),
        ("--delta 1", ("delta = 1.0",)),
        ("--mechanism gausian", ("did you mean 'gaussian'?",)),
        ("--constants best", ("constants = 'best'",)),
        ("--alpha 1", ("alpha = 1.0",)),
        ("--failure-probability 0", ("failure_probability = 0.0",)),
    ],
)
def test_bounds(run: Run, line: str, words: tuple[str, ...]) -> None:
    good = "bounds --states 6 --actions 2 --horizon 8 --episodes 1e6 --epsilon 1 --json"
    refused(run(f"{good} {line}"), *words)


@pytest.mark.parametrize(
    ("line", "suggestion"),
    [
        ("regrte", "'regret'"),
        (f"{LINE} --epsilom 2", "--epsilon"),
    ],
)
def test_what_cannot_be_parsed(run: Run, line: str, suggestion: str) -> None:
    outcome = run(line)
    assert (outcome.code, outcome.out) == (2, "")
    assert suggestion in outcome.err
    assert "Traceback" not in outcome.err


def test_the_database_of_a_relay_is_a_file(run: Run) -> None:
    line = "relay --service http://127.0.0.1:9 --token secret --database sqlite:///relay.sqlite"
    refused(run(line), "database = 'sqlite:///relay.sqlite'", "a file's name")
