"""One run of a problem: who learns, with which ε and seed, and what came out."""

from __future__ import annotations

import time
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from ldprl.catalogue import build
from ldprl.shape import FloatArray
from ldprl.simulation.rollouts import Streams, roll_out
from studies.figures.any_policy.problems import Problem

LEARNERS = {
    "private": ("ldp-es", "threshold-bits"),
    "random search": ("random-search", "threshold-bits"),
    "no privacy": ("ldp-es", "ldprl.mechanisms.whole_return:WholeReturn"),
}
_MOST_LOOKS = 10**5
"""In runs of at most so many users the mean is looked at after every plan, else at 1.2 times."""
ENOUGH = 0.9
"""The share of the gap whose users are counted."""


@dataclass(frozen=True)
class Outcome:
    """What one run came to, and how long it took.

    Attributes
    ----------
    share
        Of the gap, closed by the policy that would be handed over: 1 is the best, 0 the start.
    users_share
        The same of all users, on average.
    worth, regret
        The mean return of that policy, and what a user lost against the best, on average.
    half, enough
        Users after which half of the gap and ``ENOUGH`` are closed, in two looks one after the
        other; None: never.
    """

    share: float
    users_share: float
    worth: float
    regret: float
    half: int | None
    enough: int | None
    seconds: float

    def document(self) -> dict[str, Any]:
        """Return all of it as JSON."""
        return asdict(self)


def run(problem: Problem, who: str, epsilon: float | None, seed: int, threads: int = 1) -> Outcome:
    """Simulate one run; the seed draws the instance, too."""
    started = time.perf_counter()
    at = problem.make(seed)
    learner, mechanism = LEARNERS[who]
    pair = build(learner, mechanism, at.world.problem, episodes=problem.users, epsilon=epsilon)
    between = 1.0 if problem.users <= _MOST_LOOKS else 1.2
    found = roll_out(
        at.world,
        *pair,
        problem.users,
        Streams(seed, 0),
        lambda _: None,
        threads,
        between_looks=between,
    )
    gap = at.best - at.start
    shares = (found.worth - at.start) / gap
    return Outcome(
        share=float(shares[-1]),
        users_share=(found.mean_return - at.start) / gap,
        worth=float(found.worth[-1]),
        regret=at.best - found.mean_return,
        half=_first(found.looks, shares, 0.5),
        enough=_first(found.looks, shares),
        seconds=time.perf_counter() - started,
    )


def _first(looks: Any, shares: FloatArray, enough: float = ENOUGH) -> int | None:
    """Return the first look of two, one after the other, at which so much is closed."""
    closed = shares >= enough
    twice = closed & np.append(closed[1:], True)
    return int(looks[twice.argmax()]) if twice.any() else None
