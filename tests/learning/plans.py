"""Comparing the plans of compiled planners with plain ones."""

from __future__ import annotations

import pytest

from ldprl.assignment import Plan

Key = tuple[bytes, tuple[tuple[str, int, bytes], ...]]


def by_assignment(handed: Plan) -> dict[Key, float]:
    """Return the share of each policy with its questions, weights rounded."""
    found: dict[Key, float] = {}
    for one in handed:
        asked = tuple((q.kind, q.step, q.weights.round(9).tobytes()) for q in one.questions)
        key = one.table.tobytes(), asked
        found[key] = found.get(key, 0.0) + one.share
    return found


def assert_equal_but_for_curiosity(found: Plan, expected: Plan, groups: int) -> None:
    """Shares are those expected, and in each group of users a tenth is asked at random."""
    mine, theirs = by_assignment(found), by_assignment(expected)
    assert set(theirs) <= set(mine)
    surplus = {key: share - theirs.get(key, 0.0) for key, share in mine.items()}
    curious = [extra for extra in surplus.values() if abs(extra) > 1e-9]
    assert all(extra > 0 for extra in curious)
    assert len(curious) <= groups
    assert sum(curious) == pytest.approx(0.1 * sum(mine.values()))
