"""Sums of the latest users: as many as asked for, and what left is gone."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any

import numpy as np
import pytest

from ldprl.shape import Shape
from ldprl.statistics import Effects, Recent, Statistics, kept_from


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


def test_every_block_is_added() -> None:
    """Each number of each block has its own value, so that none can be left out or taken twice."""
    shape, rng = Shape(2, 3, 2), np.random.default_rng(0)
    effects = Effects.empty(shape, 3)
    cells = (shape.models, shape.states, shape.actions)
    arrays = Statistics.empty(shape, squares=True, arrivals=True)
    full = replace(arrays, transition_reports=np.zeros(cells), asked=np.zeros(shape.horizon))

    def filled(kind: Any) -> Any:
        found = {one.name: getattr(kind, one.name) for one in fields(kind)}
        blocks = {name: one for name, one in found.items() if isinstance(one, np.ndarray)}
        return replace(kind, **{name: rng.random(one.shape) for name, one in blocks.items()})

    first, second = (replace(filled(full), users=u, effects=filled(effects)) for u in (3, 4))
    both = first + second
    assert both.users == 7
    for kind, name in [
        *((both, one.name) for one in fields(Statistics)),
        *((both.effects, one.name) for one in fields(Effects)),
    ]:
        parts = (first, second) if kind is both else (first.effects, second.effects)
        if isinstance(getattr(kind, name), np.ndarray):
            left, right = (getattr(part, name) for part in parts)
            np.testing.assert_array_equal(getattr(kind, name), left + right)


def test_a_block_that_one_side_lacks_is_not_half_added() -> None:
    shape = Shape(2, 2, 2)
    assert (Statistics.empty(shape) + Statistics.empty(shape, squares=True)).squares is None
