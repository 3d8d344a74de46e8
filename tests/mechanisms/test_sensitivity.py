"""The worst pair of users, against all pairs of small problems and the closed forms."""

from __future__ import annotations

import pytest

from ldprl import Shape
from ldprl.layout import Layout
from ldprl.mechanisms.sensitivity import l1_sensitivity, l2_sensitivity_squared, worst_shifts
from ldprl.shape import IntArray
from tests.mechanisms.trajectories import differences

SMALL = [
    Layout(Shape(states, actions, horizon, step_dependent), squares, resolution)
    for states, actions in ((1, 1), (1, 2), (2, 1), (2, 2))
    for horizon in (1, 2, 3)
    for step_dependent in (False, True)
    for squares in (False, True)
    for resolution in (1, 4)
    if (states * actions, horizon) != (4, 3)
    or (squares, resolution, step_dependent) == (True, 1, False)
]


@pytest.mark.parametrize("layout", SMALL, ids=str)
def test_no_pair_of_users_is_farther_apart(layout: Layout) -> None:
    gaps = differences(layout) / layout.units()
    assert gaps.sum(axis=1).max() == l1_sensitivity(layout)
    assert (gaps**2).sum(axis=1).max() == pytest.approx(l2_sensitivity_squared(layout), abs=1e-12)


@pytest.mark.parametrize("layout", SMALL, ids=str)
def test_the_worst_shifts_are_those_of_a_real_pair(layout: Layout) -> None:
    """Some pair of users has exactly these shifts in exactly as many counters of each block."""
    wanted = {(shift.block, shift.size): shift.counters for shift in worst_shifts(layout)}
    assert any(shifts_of(layout, gap) == wanted for gap in differences(layout))


def shifts_of(layout: Layout, gap: IntArray) -> dict[tuple[str, int], int]:
    found: dict[tuple[str, int], int] = {}
    rewards, visits, transitions, squares = layout.blocks(gap)
    blocks = [("rewards", rewards), ("visits", visits), ("transitions", transitions)]
    if squares is not None:
        blocks.append(("rewards", squares))
    for name, block in blocks:
        for size in block[block > 0].tolist():
            found[name, size] = found.get((name, size), 0) + 1
    return found


@pytest.mark.parametrize("horizon", [1, 2, 5, 20])
@pytest.mark.parametrize("resolution", [None, 1, 4])
def test_closed_forms(horizon: int, resolution: int | None) -> None:
    """6H − 2 and 4H² + 2(H−1)², with squares 8H − 2 and 6H² + 2(H−1)²; each H is 1 if per step."""
    h, move = horizon, horizon - 1
    shape, per_step = Shape(3, 2, h), Shape(3, 2, h, step_dependent=True)
    for squares in (False, True):
        layout = Layout(shape, squares, resolution)
        stepwise = Layout(per_step, squares, resolution)
        blocks = 3 if squares else 2
        assert l1_sensitivity(layout) == l1_sensitivity(stepwise) == 2 * blocks * h + 2 * move
        assert l2_sensitivity_squared(layout) == pytest.approx(2 * blocks * h**2 + 2 * move**2)
        assert l2_sensitivity_squared(stepwise) == pytest.approx(2 * blocks * h + 2 * move)
