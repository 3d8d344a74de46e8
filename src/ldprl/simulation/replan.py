"""When to plan again: how many users a plan serves before the next one is made."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ldprl.arrivals import growth_of
from ldprl.errors import InputError, positive, whole_number

Replan = Callable[[int], int]
"""Given the number of users so far, how many the next plan serves (at least one)."""


def each(users: int) -> int:
    """Plan anew for every user, as the paper does."""
    return 1


@dataclass(frozen=True)
class Growth:
    """Plan anew when the number of users has grown by the factor 1 + ``factor``."""

    factor: float

    def __post_init__(self) -> None:
        positive("growth", self.factor)

    def __call__(self, users: int) -> int:
        """Return how many users the next plan serves."""
        return max(1, math.ceil(self.factor * users))


@dataclass(frozen=True)
class AtLeast:
    """As ``rule`` says, but never fewer than ``crowd``: a relay hands over no fewer reports.

    The users of a last plan that are no crowd follow it, and nobody learns from them.
    """

    rule: Replan
    crowd: int

    def __post_init__(self) -> None:
        whole_number("crowd", self.crowd, 1)

    def __call__(self, users: int) -> int:
        """Return how many users the next plan serves."""
        return max(self.crowd, self.rule(users))


@dataclass(frozen=True)
class Within:
    """As ``rule`` says of the users that are remembered, ``memory`` of them at most."""

    rule: Replan
    memory: int

    def __post_init__(self) -> None:
        whole_number("memory", self.memory, 1)

    def __call__(self, users: int) -> int:
        """Return how many users the next plan serves."""
        return self.rule(min(users, self.memory))


def replan_from(replan: str | Replan) -> Replan:
    """Read ``"each"``, ``"growth:G"``, ``"crowd:N"`` or ``"growth:G,crowd:N"``.

    Of a function, what it returns is checked.
    """
    if replan is each or isinstance(replan, Growth | AtLeast | Within):
        return replan
    if callable(replan):
        given = replan
        return lambda users: whole_number(f"replan({users})", given(users), 1)
    if replan == "each":
        return each
    often, _, crowd = str(replan).rpartition("crowd:")
    if crowd.isdecimal() and (often == "" or often.endswith(",")) and str(replan) != crowd:
        return AtLeast(replan_from(often[:-1]) if often else each, int(crowd))
    growth = growth_of(str(replan))
    if growth is not None:
        return Growth(float(growth))
    raise InputError(
        "replan", replan, "'each', 'growth:G' with a number G > 0, 'crowd:N' or 'growth:G,crowd:N'"
    )


def plans_until(rule: Replan, episodes: int) -> tuple[list[float], list[float]]:
    """Return numbers of users, log-spaced, and the approximate number of plans up to each."""
    points = np.geomspace(1, episodes + 1, 400) - 1
    sizes = np.array([rule(int(users)) for users in points[:-1]])
    plans = np.concatenate([[0.0], np.cumsum(np.diff(points) / sizes)])
    return points.tolist(), plans.tolist()
