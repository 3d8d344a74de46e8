"""TabularMDP: what it refuses, that it is frozen, and that JSON keeps every bit."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ldprl.errors import InputError
from ldprl.worlds import TabularMDP, random_mdp

NAN, INF = float("nan"), float("inf")


def parts(**changes: Any) -> dict[str, Any]:
    """Return a valid MDP's arguments (S = A = H = 2), with these changes."""
    fields: dict[str, Any] = {
        "transitions": [[[0.5, 0.5], [1.0, 0.0]], [[0.0, 1.0], [0.25, 0.75]]],
        "rewards": [[0.0, 1.0], [0.5, 0.25]],
        "horizon": 2,
    }
    return fields | changes


def transitions(**row: list[float]) -> list[Any]:
    table: list[Any] = parts()["transitions"]
    table[1][0] = row["row"]
    return table


REFUSED: list[tuple[dict[str, Any], str, str, str]] = [
    ({"transitions": transitions(row=[0.5, 0.4])}, "sum of transitions[1, 0]", "0.9", "sum to 1"),
    ({"transitions": transitions(row=[1.5, -0.5])}, "transitions[1, 0, 0]", "1.5", "[0, 1]"),
    ({"transitions": transitions(row=[-0.5, 1.5])}, "transitions[1, 0, 0]", "-0.5", "[0, 1]"),
    ({"transitions": transitions(row=[NAN, 1.0])}, "transitions[1, 0, 0]", "nan", "finite"),
    ({"transitions": transitions(row=[0.0, INF])}, "transitions[1, 0, 1]", "inf", "finite"),
    ({"transitions": transitions(row=[1.0])}, "transitions", "[[[", "rectangular"),
    ({"transitions": 0.5}, "transitions.shape", "()", "(S, A, S)"),
    ({"transitions": [[1.0]]}, "transitions.shape", "(1, 1)", "(S, A, S)"),
    ({"transitions": np.ones((2, 2, 3)) / 3}, "transitions.shape", "(2, 2, 3)", "(S, A, S)"),
    ({"transitions": np.ones((3, 2, 2, 2)) / 2}, "transitions.shape", "(3, 2, 2, 2)", "2 steps"),
    ({"transitions": np.ones((0, 2, 0))}, "transitions.shape", "(0, 2, 0)", "one state"),
    ({"rewards": [[0.0, 1.0], [1.01, 0.0]]}, "rewards[1, 0]", "1.01", "[0, 1]"),
    ({"rewards": [[0.0, -0.1], [1.0, 0.0]]}, "rewards[0, 1]", "-0.1", "[0, 1]"),
    ({"rewards": [[0.0, NAN], [1.0, 0.0]]}, "rewards[0, 1]", "nan", "finite"),
    ({"rewards": [[-INF, 0.0], [1.0, 0.0]]}, "rewards[0, 0]", "-inf", "finite"),
    ({"rewards": [0.0, 1.0]}, "rewards.shape", "(2,)", "(2, 2) or (2, 2, 2)"),
    ({"rewards": np.zeros((3, 2, 2))}, "rewards.shape", "(3, 2, 2)", "(2, 2) or (2, 2, 2)"),
    ({"rewards": [["0.5", "1"], ["0", "0"]]}, "rewards", "0.5", "numbers"),
    ({"rewards": [[None, 1.0], [0.0, 0.0]]}, "rewards", "None", "numbers"),
    ({"rewards": [[10**400, 1.0], [0.0, 0.0]]}, "rewards", "1000", "numbers"),
    ({"rewards": np.array([[1j, 0], [0, 0]])}, "rewards", "0.+1.", "numbers"),
    ({"horizon": 0}, "horizon", "0", "from 1 to"),
    ({"horizon": -3}, "horizon", "-3", "from 1 to"),
    ({"horizon": 2.0}, "horizon", "2.0", "whole number"),
    ({"horizon": NAN}, "horizon", "nan", "whole number"),
    ({"horizon": True}, "horizon", "True", "whole number"),
    ({"initial": [0.5, 0.6]}, "sum of initial", "1.1", "sum to 1"),
    ({"initial": [NAN, 1.0]}, "initial[0]", "nan", "finite"),
    ({"initial": [1.0]}, "initial.shape", "(1,)", "(2,)"),
    ({"reward_kind": "bernouli"}, "reward_kind", "bernouli", "did you mean 'bernoulli'?"),
]


@pytest.mark.parametrize(("changes", "field", "value", "expected"), REFUSED)
def test_refuses_and_says_field_value_and_expectation(
    changes: dict[str, Any], field: str, value: str, expected: str
) -> None:
    with pytest.raises(InputError) as caught:
        TabularMDP(**parts(**changes))
    assert caught.value.field == field
    assert value in str(caught.value.value)
    assert expected in caught.value.expected
    assert (
        str(caught.value) == f"{field} = {caught.value.value!r}: expected {caught.value.expected}"
    )
    assert len(str(caught.value)) < 300


def test_is_frozen_and_keeps_no_hold_on_the_callers_arrays() -> None:
    rewards = np.zeros((2, 2))
    mdp = TabularMDP(**parts(rewards=rewards))
    rewards[0, 0] = 1
    assert mdp.rewards[0, 0] == 0
    for array in (mdp.transitions, mdp.rewards, mdp.initial, mdp.step_rewards):
        with pytest.raises(ValueError, match="read-only"):
            array[...] = 0
    with pytest.raises(AttributeError):
        mdp.horizon = 3  # type: ignore[misc]


def test_starts_uniformly_unless_told() -> None:
    assert TabularMDP(**parts()).initial.tolist() == [0.5, 0.5]
    assert TabularMDP(**parts(initial=[0.0, 1.0])).initial.tolist() == [0.0, 1.0]


def test_either_part_may_depend_on_the_step() -> None:
    stationary = TabularMDP(**parts())
    assert not stationary.shape.step_dependent
    by_rewards = TabularMDP(**parts(rewards=[parts()["rewards"]] * 2))
    by_transitions = TabularMDP(**parts(transitions=[parts()["transitions"]] * 2))
    for mdp in (by_rewards, by_transitions):
        assert mdp.shape.step_dependent
        np.testing.assert_array_equal(mdp.transitions, stationary.step_transitions)
        np.testing.assert_array_equal(mdp.rewards, stationary.step_rewards)


@given(
    states=st.integers(1, 4),
    actions=st.integers(1, 3),
    horizon=st.integers(1, 3),
    seed=st.integers(0, 2**32),
    step_dependent=st.booleans(),
    kind=st.sampled_from(["deterministic", "bernoulli"]),
)
def test_json_keeps_every_bit(
    states: int, actions: int, horizon: int, seed: int, step_dependent: bool, kind: Any
) -> None:
    drawn = random_mdp(states, actions, horizon, seed, step_dependent=step_dependent)
    rng = np.random.default_rng(seed)
    start = rng.dirichlet(np.ones(states))
    mdp = TabularMDP(drawn.transitions, rng.random(drawn.rewards.shape), horizon, start, kind)
    back = TabularMDP.from_json(mdp.to_json())
    for name in ("transitions", "rewards", "initial"):
        before, after = getattr(mdp, name), getattr(back, name)
        assert before.shape == after.shape
        assert before.tobytes() == after.tobytes()
    assert (back.horizon, back.reward_kind) == (mdp.horizon, mdp.reward_kind)
    assert back.to_json() == mdp.to_json()


@pytest.mark.parametrize(
    ("text", "field", "expected"),
    [
        ("", "JSON", "line 1, column 1"),
        ("{", "JSON", "line 1, column 2"),
        ("[1, 2]", "JSON", "an object"),
        ("null", "JSON", "an object"),
        ("[" * 100_000, "JSON", "a JSON document"),
        ('{"horizon": ' + "1" * 5000 + "}", "JSON", "a JSON document"),
        ('{"horizon": 2, "rewards": []}', "JSON", "'transitions'"),
        ('{"horizn": 2}', "JSON field", "did you mean 'horizon'?"),
        (json.dumps(parts(horizon="2")), "horizon", "whole number"),
        (json.dumps(parts(rewards=None)), "rewards", "numbers"),
        (json.dumps(parts(rewards=[[NAN, 0], [0, 0]])), "rewards[0, 0]", "finite"),
        (json.dumps(parts(reward_kind=[1])), "reward_kind", "one of"),
    ],
)
def test_refuses_malformed_json(text: str, field: str, expected: str) -> None:
    with pytest.raises(InputError) as caught:
        TabularMDP.from_json(text)
    assert caught.value.field == field
    assert expected in caught.value.expected


def test_refuses_json_truncated_anywhere() -> None:
    text = random_mdp(2, 2, 2, 0).to_json()
    for length in range(len(text)):
        with pytest.raises(InputError):
            TabularMDP.from_json(text[:length])


def test_reads_files_and_names_those_it_cannot(tmp_path: Path) -> None:
    good, binary = tmp_path / "good.json", tmp_path / "binary.json"
    other = tmp_path / "deployment.toml"
    good.write_text(json.dumps(parts()), encoding="utf-8")
    other.write_text('name = "health"', encoding="utf-8")
    binary.write_bytes(b"\xff\xfe\x00")
    assert TabularMDP.from_file(good).horizon == 2
    for path, reason in (
        (tmp_path / "missing.json", "No such file"),
        (tmp_path, "directory"),
        (binary, "utf-8"),
        (other, "JSON document"),
        ("nul\0.json", "null"),
    ):
        with pytest.raises(InputError) as caught:
            TabularMDP.from_file(path)
        assert caught.value.value == str(path)
        assert reason in caught.value.expected
