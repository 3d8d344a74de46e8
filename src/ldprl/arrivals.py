"""How fast users come: between two plans, and by the calendar."""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation

from ldprl.errors import InputError, positive

_MOST_USERS = 10**12
"""Users in the middle of an episode at a time."""


def growth_of(text: str) -> Decimal | None:
    """Return the number G of ``growth:G``, whatever it is, and None of any other text."""
    kind, _, value = text.partition(":")
    if kind != "growth":
        return None
    try:
        return Decimal(value)
    except InvalidOperation:
        return None


@dataclass(frozen=True)
class Calendar:
    """How fast users arrive, and how long their episodes take.

    Attributes
    ----------
    arrivals_per_day
        Users who begin an episode in a day, evenly.
    episode_days
        Days from the beginning of an episode to its report.
    """

    arrivals_per_day: float
    episode_days: float

    def __post_init__(self) -> None:
        positive("arrivals_per_day", self.arrivals_per_day)
        positive("episode_days", self.episode_days)
        if self.arrivals_per_day * self.episode_days > _MOST_USERS:
            expected = f"at most {_MOST_USERS:.0e} users in the middle of an episode"
            raise InputError("arrivals_per_day", self.arrivals_per_day, expected)

    @property
    def lag(self) -> int:
        """How many users begin before the first of them reports: arrivals × an episode."""
        return math.ceil(self.arrivals_per_day * self.episode_days)

    def days(self, users: int) -> float:
        """Return after how many days that many users have begun."""
        return users / self.arrivals_per_day

    def in_words(self, users: int) -> str:
        """Say how many calendar days it takes, and how many users have the first version."""
        first = min(self.lag, users)
        return (
            f"{users:,} episodes begin within {_days(self.days(users))}, and the last report comes"
            f" on day {math.ceil(self.days(users) + self.episode_days):,}: an episode takes"
            f" {_days(self.episode_days)}, {self.arrivals_per_day:,.10g} begin a day, and the first"
            f" {first:,} users have version 1."
        )


def _days(number: float) -> str:
    return f"{number:,.3g} days" if number < 1000 else f"{number:,.0f} days"
