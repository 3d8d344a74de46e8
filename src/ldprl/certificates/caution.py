"""Never worse than today: how many users may explore before it could cost more than was allowed.

Users are to lose at most a share m of what the incumbent would have brought them. Let v be the
incumbent's mean return, n_π the users who were given a policy π that is certified to be better than
the incumbent by at least b_π (0 for the incumbent itself), and n_x the users who were given
anything else, of whom it is certified that they earned w on average at least. All n users earned at
least

    Σ_π n_π·(v + b_π) + n_x·w,   and this has to be at least   (1 − m)·n·v.

Of the next M users some explore, and may earn 0; the others are given the policy with the largest
b. How many may explore, for this to hold at the end of the M, is found for both ends of the
interval for v, as the condition is linear in v.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

_DEVIATIONS = 5.0
"""Explorers are drawn at random, so their expected number is this many standard deviations below
the allowed one, which is then exceeded in at most one plan of a thousand (Poisson, any mean)."""


@dataclass(frozen=True)
class Served:
    """The users so far.

    Attributes
    ----------
    users
        All of them.
    certified
        (n_π, b_π) of the incumbent and of each policy that was ever under certificate.
    explored
        w: what the others earned on average, at least.
    """

    users: int
    certified: Sequence[tuple[int, float]]
    explored: float


def exploring_share(
    most_lost: float, served: Served, safe: float, worth: tuple[float, float], batch: int
) -> float:
    """Return the share of the next ``batch`` users who may explore.

    ``most_lost`` is m, ``safe`` the largest b, ``worth`` the interval for v.
    """
    others = served.users - sum(users for users, _ in served.certified)
    most = float(batch)
    for value in worth:
        # No return is below 0, whatever a certificate says.
        earned = sum(users * max(value + better, 0.0) for users, better in served.certified)
        earned += others * served.explored + batch * max(value + safe, 0.0)
        needed = (1 - most_lost) * (served.users + batch) * value
        if value + safe > 0:
            most = min(most, (earned - needed) / (value + safe))
    if most < 1:
        return 0.0
    # The allowed number is y² + 5y, with y² the expected one.
    root = (math.sqrt(_DEVIATIONS**2 + 4 * most) - _DEVIATIONS) / 2
    return 1.0 if most >= batch else root**2 / batch
