"""Bisection ends on both sides of the change, as close as asked for."""

from __future__ import annotations

import pytest

from ldprl.bisection import bisect


def test_both_ends_are_on_their_side() -> None:
    low, high = bisect(lambda x: x * x >= 2, 0.0, 2.0, relative=1e-9)
    assert low * low < 2 <= high * high
    assert 0 < high - low <= 1e-9 * high


def test_the_interval_is_halved_as_often_as_asked() -> None:
    asked: list[float] = []

    def holds(x: float) -> bool:
        asked.append(x)
        return x >= 0.3

    assert bisect(holds, 0.0, 1.0, halvings=3) == (0.25, 0.375)
    assert asked == [0.5, 0.25, 0.375]


@pytest.mark.parametrize("halvings", [0, 5])
def test_an_interval_that_is_narrow_enough_is_left_alone(halvings: int) -> None:
    assert bisect(lambda _: True, 1.0, 1.0, halvings=halvings) == (1.0, 1.0)
