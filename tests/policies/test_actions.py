"""Outputs become actions: ties to the first, numbers on a grid, defined for infinities and NaN."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

from ldprl import InputError
from ldprl.policies.actions import Choices, Level, Levels, actions_from

CHOICES = Choices(("left", "stay", "right"))
LEVELS = Levels((Level("dose", "0", "15", "U"), Level("speed", "-0.1", "0.3")), steps=4, map="clip")


@pytest.mark.parametrize(
    ("outputs", "action"),
    [
        ([1, 2, 3], 2),
        ([1, 3, 3], 1),
        ([0, 0, 0], 0),
        ([0, -0.0, 1e-300], 2),
        ([-np.inf, -np.inf, -1], 2),
        ([np.inf, np.inf, 0], 0),
        ([np.nan, np.inf, 0], 0),
        ([1, np.nan, 2], 2),
        ([1, np.nan, 0], 0),
    ],
)
def test_the_largest_output_is_chosen_the_first_of_equal_ones(
    outputs: list[float], action: int
) -> None:
    assert CHOICES.choose(np.array([outputs, [9, 0, 0]], dtype=float)).tolist() == [action, 0]


@pytest.mark.parametrize(
    ("output", "dose", "speed"),
    [
        (0.0, 7.5, 0.1),
        (np.nan, 7.5, 0.1),
        (0.24, 7.5, 0.1),
        (0.25, 11.25, 0.2),
        (0.99, 15.0, 0.3),
        (7.0, 15.0, 0.3),
        (np.inf, 15.0, 0.3),
        (-np.inf, 0.0, -0.1),
        (-0.76, 0.0, -0.1),
    ],
)
def test_levels_are_on_the_grid(output: float, dose: float, speed: float) -> None:
    found = LEVELS.choose(np.array([[output, output]]))[0]
    assert found[0] == dose
    assert found[1] == pytest.approx(speed, abs=1e-15)
    assert -0.1 <= found[1] <= 0.3


@pytest.mark.parametrize("steps", [1, 3, 15, 1024, 2**30])
def test_squashed_levels_reach_both_ends_and_nothing_beyond(steps: int) -> None:
    levels = Levels((Level("a", "-0.1", "0.3"),), steps)
    outputs = np.concatenate([np.linspace(-30, 30, 10_001), [np.inf, -np.inf]])[:, None]
    found = levels.choose(outputs)
    assert (found.min(), found.max()) == (-0.1, 0.3)
    near = -0.1 + 0.4 * (np.tanh(outputs) + 1) / 2
    assert np.max(np.abs(found - near)) <= 0.2 / steps + 1e-12


def test_what_users_did() -> None:
    assert CHOICES.check("action", 2) == CHOICES.check("action", "right") == 2
    assert LEVELS.check("action", np.array([1.0, 7])) == (1.0, 7.0)
    assert Levels((Level("a", 0, 1),)).check("action", 0.5) == (0.5,)
    for actions, value in [
        (CHOICES, 3),
        (CHOICES, -1),
        (CHOICES, 1.0),
        (CHOICES, "up"),
        (LEVELS, [1.0]),
        (LEVELS, 1.0),
        (LEVELS, [1.0, np.nan]),
        (LEVELS, [1.0, "a"]),
    ]:
        with pytest.raises(InputError, match="action"):
            actions.check("action", value)


def test_there_and_back() -> None:
    for actions in (CHOICES, LEVELS, Levels((Level("a", -1, 1.5),))):
        again = actions_from(json.loads(json.dumps(actions.document())))
        assert again == actions
        assert again.document() == actions.document()


@pytest.mark.parametrize(
    ("document", "field"),
    [
        ([], "actions"),
        ("left", "actions"),
        (None, "actions"),
        (3, "actions"),
        (["a", "a"], "actions"),
        ([1, 2], "actions[0]"),
        ({}, "actions.levels"),
        ({"levels": "ab"}, "actions.levels"),
        ({"levels": [{"name": "a", "low": 0}]}, "level.high"),
        ({"levels": [{"name": "a", "low": 0, "high": 0}]}, "level.high"),
        ({"levels": [{"name": "a", "low": 0, "high": 1, "step": 1}]}, "level key"),
        ({"levels": [{"name": "a", "low": "x", "high": 1}]}, "level.low"),
        ({"levels": [{"name": "a", "low": 0, "high": 1}] * 2}, "actions.levels"),
        ({"levels": [{"name": "a", "low": 0, "high": 1}], "steps": 0}, "actions.steps"),
        ({"levels": [{"name": "a", "low": 0, "high": 1}], "steps": 2**31}, "actions.steps"),
        ({"levels": [{"name": "a", "low": 0, "high": 1}], "map": "sigmoid"}, "actions.map"),
        ({"names": ["a"]}, "actions key"),
    ],
)
def test_what_are_no_actions_is_refused(document: Any, field: str) -> None:
    with pytest.raises(InputError) as refused:
        actions_from(document)
    assert refused.value.field == field
