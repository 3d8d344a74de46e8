"""Gymnasium's spaces as features and actions."""

from __future__ import annotations

import numpy as np
import pytest
from gymnasium import spaces

from ldprl.errors import InputError
from ldprl.policies.actions import Choices, Levels
from ldprl.worlds.spaces import actions_of, features_of, numbers


def box(low: list[float], high: list[float]) -> spaces.Box:
    return spaces.Box(np.array(low, dtype=np.float32), np.array(high, dtype=np.float32))


def test_a_box_enters_by_the_middle_and_half_of_its_width() -> None:
    inf = float("inf")
    found, unscaled = features_of(box([-1.2, 2, -inf, 0, -3e38, 7], [0.6, 4, inf, inf, 3e38, 7]))
    assert [(one.centre, one.scale) for one in found.each] == [
        ("-0.3", "0.9"),  # and not the nearest float32 numbers
        ("3", "1"),
        ("0", "1"),
        ("0", "1"),
        ("0", "1"),
        ("7", "1"),
    ]
    assert unscaled == ("x2", "x3", "x4")


def test_a_discrete_observation_is_one_input_for_each_value() -> None:
    found, unscaled = features_of(spaces.Tuple((spaces.Discrete(3, start=5), box([0], [2]))))
    assert (found.size, found.raw, unscaled) == (4, 2, ())
    assert found.each[0].categories == ("5", "6", "7")
    seen = numbers(spaces.Tuple((spaces.Discrete(3, start=5), box([0], [2]))), (6, [1.5]), 1)
    np.testing.assert_array_equal(found.inputs_many(seen), [[0, 1, 0, 0.5]])


def test_many_observations_become_rows() -> None:
    space = spaces.Box(0, 1, (2, 2))
    np.testing.assert_array_equal(
        numbers(space, np.arange(8).reshape(2, 2, 2), 2), [[0, 1, 2, 3], [4, 5, 6, 7]]
    )
    pairs = spaces.Tuple((spaces.Discrete(4), spaces.Discrete(4)))
    both = (np.array([1, 2]), np.array([3, 0]))
    np.testing.assert_array_equal(numbers(pairs, both, 2), [[1, 3], [2, 0]])


def test_actions() -> None:
    choices = actions_of(spaces.Discrete(2, start=3))
    assert isinstance(choices, Choices)
    assert choices.outputs == 2
    levels = actions_of(box([-1, 0], [1, 0.3]))
    assert isinstance(levels, Levels)
    assert [(one.low, one.high) for one in levels.each] == [("-1", "1"), ("0", "0.3")]


@pytest.mark.parametrize(
    ("space", "expected"),
    [
        (spaces.Dict({"a": spaces.Discrete(2)}), "Box, Discrete"),
        (spaces.MultiBinary(3), "not MultiBinary"),
        (spaces.Tuple((spaces.Text(3),)), "not Text"),
        (spaces.Box(0, 1, (400, 400)), "at most 100000 numbers"),
    ],
)
def test_other_observations_are_refused(space: spaces.Space[object], expected: str) -> None:
    with pytest.raises(InputError, match=expected) as caught:
        features_of(space)
    assert caught.value.field == "observations"


@pytest.mark.parametrize(
    ("space", "expected"),
    [
        (spaces.MultiDiscrete([2, 2]), "Discrete or Box"),
        (spaces.Box(-np.inf, np.inf, (1,)), "finite bounds"),
        (spaces.Discrete(10**6), "at most 100000 actions"),
    ],
)
def test_other_actions_are_refused(space: spaces.Space[object], expected: str) -> None:
    with pytest.raises(InputError, match=expected):
        actions_of(space)
