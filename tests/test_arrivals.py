"""One reading of ``growth:G`` for simulations and deployments, and users by the calendar."""

from __future__ import annotations

from decimal import Decimal

import pytest

from ldprl.arrivals import Calendar, growth_of
from ldprl.errors import InputError


@pytest.mark.parametrize("value", ["0.07", "0", "-1", "inf"])
def test_growth_is_read_in_decimals(value: str) -> None:
    assert growth_of(f"growth:{value}") == Decimal(value)


@pytest.mark.parametrize("text", ["each", "growth", "growth:", "growth:x", "every:5"])
def test_other_text_has_no_growth(text: str) -> None:
    assert growth_of(text) is None


def test_users_overlap_by_arrivals_times_days() -> None:
    calendar = Calendar(20_000, 14)
    assert (calendar.lag, calendar.days(300_000)) == (280_000, 15)
    assert Calendar(0.5, 0.1).lag == 1
    assert calendar.in_words(100_000).endswith("the first 100,000 users have version 1.")


@pytest.mark.parametrize("given", [(0, 1), (1, 0), (-1, 1), (float("inf"), 1), (1e9, 1e9)])
def test_what_no_calendar_has_is_refused(given: tuple[float, float]) -> None:
    with pytest.raises(InputError, match=r"^(arrivals_per_day|episode_days) = "):
        Calendar(*given)
