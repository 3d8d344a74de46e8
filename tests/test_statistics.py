"""Sums of the latest users: as many as asked for, and what left is gone."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from ldprl.shape import Shape
from ldprl.statistics import Recent, Statistics, kept_from


@pytest.mark.parametrize(
    ("users", "memory", "first"),
    [
        ([], 5, 0),
        ([3, 3, 3], None, 0),
        ([3, 3, 3], 10, 0),
        ([3, 3, 3], 6, 1),
        ([3, 3, 3], 7, 0),
        ([3, 0, 9], 9, 2),
        ([3, 9, 0], 9, 1),
    ],
)
def test_the_latest_blocks_have_as_many_users_as_asked_for(
    users: list[int], memory: int | None, first: int
) -> None:
    assert kept_from(users, memory) == first


def test_what_left_is_gone() -> None:
    empty = Statistics.empty(Shape(2, 2, 2))

    def block(users: int, reward: float) -> Statistics:
        return replace(empty, users=users, rewards=np.full(empty.rewards.shape, reward))

    recent, all_of_them = Recent(empty, 10), Recent(empty, None)
    for users, reward in ((8, 1.0), (4, 2.0), (6, 4.0)):
        recent.add(block(users, reward))
        all_of_them.add(block(users, reward))
    assert (recent.total.users, recent.total.rewards[0, 0, 0]) == (10, 6.0)
    assert (all_of_them.total.users, all_of_them.total.rewards[0, 0, 0]) == (18, 7.0)
