"""When plans are made: by growth, and never before a crowd is there."""

from __future__ import annotations

import pytest

from ldprl.errors import InputError
from ldprl.simulation.replan import AtLeast, Growth, each, plans_until, replan_from


def test_names_read_as_schedules() -> None:
    assert replan_from("each") is each
    assert replan_from("growth:0.5") == Growth(0.5)
    assert replan_from("crowd:1000") == AtLeast(each, 1000)
    assert replan_from("growth:0.5,crowd:1000") == AtLeast(Growth(0.5), 1000)


def test_a_plan_serves_at_least_a_crowd() -> None:
    schedule = replan_from("growth:0.1,crowd:1000")
    assert [schedule(users) for users in (0, 1000, 10_000, 20_000)] == [1000, 1000, 1000, 2000]


@pytest.mark.parametrize(
    "name", ["", "1000", "crowd:", "crowd:0", "crowd:-5", "growth:0", "growth:0.1;crowd:5", "x:1"]
)
def test_other_names_are_refused(name: str) -> None:
    with pytest.raises(InputError):
        replan_from(name)


@pytest.mark.parametrize(("replan", "episodes"), [("each", 10**4), ("growth:0.01", 10**8)])
def test_progress_is_counted_in_plans(replan: str, episodes: int) -> None:
    """What the bar takes for the whole is within 5% of the number of plans that are made."""
    schedule = replan_from(replan)
    users = plans = 0
    while users < episodes:
        users += schedule(users)
        plans += 1
    points, counted = plans_until(schedule, episodes)
    assert points[-1] == pytest.approx(episodes)
    assert counted[-1] == pytest.approx(plans, rel=0.05)
