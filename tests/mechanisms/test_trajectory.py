"""Counts of a written-out trajectory, by hand, and trajectories that nobody can have."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from ldprl import InputError, Shape, Trajectory
from ldprl.layout import Layout
from ldprl.mechanisms.sampling import InsecureSource

SOURCE = InsecureSource(0)
# Three steps: (s,a,r) = (0,1,1), (1,0,0.25), (0,1,0.5); moves 0 -1-> 1 -0-> 0.
LIVED = Trajectory([0, 1, 0], [1, 0, 1], [1.0, 0.25, 0.5])


def test_stationary_counts_by_hand() -> None:
    layout = Layout(Shape(2, 2, 3), squares=True, resolution=None)
    rewards, visits, transitions, squares = layout.blocks(LIVED.counts(layout, SOURCE))
    assert rewards.tolist() == [[[0, 1.5], [0.25, 0]]]
    assert visits.tolist() == [[[0, 2], [1, 0]]]
    assert transitions.tolist() == [[[[0, 0], [0, 1]], [[1, 0], [0, 0]]]]
    assert squares is not None
    assert squares.tolist() == [[[0, 1.25], [0.0625, 0]]]


def test_step_dependent_counts_by_hand() -> None:
    layout = Layout(Shape(2, 2, 3, step_dependent=True), squares=True, resolution=None)
    rewards, visits, transitions, squares = layout.blocks(LIVED.counts(layout, SOURCE))
    assert rewards.tolist() == [[[0, 1], [0, 0]], [[0, 0], [0.25, 0]], [[0, 0.5], [0, 0]]]
    assert visits.tolist() == [[[0, 1], [0, 0]], [[0, 0], [1, 0]], [[0, 1], [0, 0]]]
    assert transitions.tolist() == [
        [[[0, 0], [0, 1]], [[0, 0], [0, 0]]],
        [[[0, 0], [0, 0]], [[1, 0], [0, 0]]],
    ]
    assert squares is not None
    assert squares.tolist() == [[[0, 1], [0, 0]], [[0, 0], [0.0625, 0]], [[0, 0.25], [0, 0]]]


@pytest.mark.parametrize("step_dependent", [False, True])
def test_one_step_has_no_transition(step_dependent: bool) -> None:
    layout = Layout(Shape(2, 1, 1, step_dependent), squares=True)
    vector = Trajectory([1], [0], [1.0]).counts(layout, SOURCE)
    rewards, visits, transitions, squares = layout.blocks(vector)
    assert rewards.tolist() == visits.tolist() == [[[0], [1]]]
    assert squares is not None
    assert squares.tolist() == [[[0], [1]]]
    assert transitions.sum() == 0
    assert transitions.size == (0 if step_dependent else 4)


@pytest.mark.parametrize("step_dependent", [False, True])
def test_resolution_four_counts_quarters(step_dependent: bool) -> None:
    """All rewards are quarters, so nothing is left to chance."""
    shape = Shape(2, 2, 3, step_dependent)
    exact = LIVED.counts(Layout(shape, resolution=None), SOURCE)
    rounded = LIVED.counts(Layout(shape, resolution=4), SOURCE)
    assert rounded.dtype == np.int64
    assert np.array_equal(rounded, exact * Layout(shape, resolution=4).units())


def test_resolution_four_counts_squares_in_quarters() -> None:
    """1² + 0.5² is five quarters; 0.25² is a quarter of one, rounded up or down."""
    layout = Layout(Shape(2, 2, 3), squares=True, resolution=4)
    squares = [layout.blocks(LIVED.counts(layout, SOURCE))[3] for _ in range(200)]
    assert {int(block[0, 0, 1]) for block in squares if block is not None} == {5}
    assert {int(block[0, 1, 0]) for block in squares if block is not None} == {0, 1}


def test_resolution_one_rounds_each_reward_up_or_down() -> None:
    layout = Layout(Shape(2, 2, 3), squares=True)
    vectors = np.array([LIVED.counts(layout, SOURCE) for _ in range(300)])
    views = [layout.blocks(vector) for vector in vectors]
    assert {int(view[0][0, 0, 1]) for view in views} == {1, 2}
    assert {int(view[0][0, 1, 0]) for view in views} == {0, 1}
    # A reward and its square are rounded on their own: every combination occurs.
    pairs = {(int(v[0][0, 0, 1]), int(v[3][0, 0, 1])) for v in views if v[3] is not None}
    assert pairs == {(1, 1), (1, 2), (2, 1), (2, 2)}


@pytest.mark.parametrize("step_dependent", [False, True])
@pytest.mark.parametrize("resolution", [None, 1, 4])
def test_the_empty_trajectory_counts_nothing(step_dependent: bool, resolution: int | None) -> None:
    layout = Layout(Shape(2, 3, 4, step_dependent), squares=True, resolution=resolution)
    vector = Trajectory.empty().counts(layout, SOURCE)
    assert len(vector) == layout.length
    assert not vector.any()


def test_numpy_values_are_welcome() -> None:
    layout = Layout(Shape(2, 2, 3), squares=True, resolution=4)
    columns: list[Any] = [
        np.array([0, 1, 0]),
        np.array([1, 0, 1]),
        np.array([1, 0.5, 0.5], dtype=np.float32),
    ]
    episode = Trajectory(*columns)
    assert episode.counts(layout, SOURCE)[:4].tolist() == [0, 6, 2, 0]


@pytest.mark.parametrize(
    ("states", "actions", "rewards", "field"),
    [
        ([0, 1], [0, 1, 0], [0, 0, 0], "trajectory.states"),
        ([0, 1, 0], [0, 1], [0, 0, 0], "trajectory.actions"),
        ([0, 1, 0], [0, 1, 0], [0, 0], "trajectory.rewards"),
        ([0] * 4, [0] * 4, [0] * 4, "trajectory.states"),
        ([], [0, 1, 0], [0, 0, 0], "trajectory.actions"),
        ([0, 1, 0], [], [0, 0, 0], "trajectory.actions"),
        ([0, 2, 0], [0, 1, 0], [0, 0, 0], "trajectory.states[1]"),
        ([0, -1, 0], [0, 1, 0], [0, 0, 0], "trajectory.states[1]"),
        ([0, 0.5, 0], [0, 1, 0], [0, 0, 0], "trajectory.states[1]"),
        ([0, None, 0], [0, 1, 0], [0, 0, 0], "trajectory.states[1]"),
        ([0, 1, 0], [0, 1, 3], [0, 0, 0], "trajectory.actions[2]"),
        ([0, 1, 0], [0, 1, -1], [0, 0, 0], "trajectory.actions[2]"),
        ([0, 1, 0], [0, 1, 0], [float("nan"), 0, 0], "trajectory.rewards[0]"),
        ([0, 1, 0], [0, 1, 0], [float("inf"), 0, 0], "trajectory.rewards[0]"),
        ([0, 1, 0], [0, 1, 0], [0, 0, 1.001], "trajectory.rewards[2]"),
        ([0, 1, 0], [0, 1, 0], [0, -0.001, 0], "trajectory.rewards[1]"),
        ([0, 1, 0], [0, 1, 0], [0, None, 0], "trajectory.rewards[1]"),
    ],
)
def test_impossible_trajectories_are_refused_by_name(
    states: Any, actions: Any, rewards: Any, field: str
) -> None:
    layout = Layout(Shape(2, 3, 3))
    with pytest.raises(InputError) as refusal:
        Trajectory(states, actions, rewards).counts(layout, SOURCE)
    assert refusal.value.field == field
