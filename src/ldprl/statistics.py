"""What the service keeps: sums of decoded reports. Merging two is adding them."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ldprl.shape import FloatArray, IntArray, Shape


@dataclass(frozen=True)
class Statistics:
    """Private estimates of the users' summed counters (the paper's R̃_k, Ñ^r_k and Ñ^p_k).

    A leading axis holds the models of :class:`~ldprl.shape.Shape`: one, or one a step.

    Attributes
    ----------
    shape
        Sizes of the problem.
    users
        How many users have reported, the paper's k − 1.
    rewards, visits
        R̃ and Ñ^r, of shape (models, S, A).
    transitions
        Ñ^p, of shape (transition models, S, A, S).
    reports
        How many reports went into each (model, s, a): equal to ``users`` unless decoding left
        out cells that the user's policy cannot visit. Where reports are weighted, the sum of the
        squared weights: noise grows with it.
    transition_reports
        The same for each (transition model, s, a), where not every report answers for both.
    squares
        Sums of squared rewards (LDP-PSRL's fourth block), where the mechanism reports them.
    arrivals
        Visits to each state at each step, of shape (H, S); without privacy, or estimated from
        the users who were asked about that step.
    asked
        How many users were asked about each step, where not all of them answer for all steps.
    """

    shape: Shape
    users: int
    rewards: FloatArray
    visits: FloatArray
    transitions: FloatArray
    reports: FloatArray | IntArray
    squares: FloatArray | None = None
    arrivals: FloatArray | None = None
    transition_reports: FloatArray | None = None
    asked: FloatArray | None = None

    @classmethod
    def empty(cls, shape: Shape, *, squares: bool = False, arrivals: bool = False) -> Statistics:
        """Return the sums of no reports at all."""
        cells = (shape.models, shape.states, shape.actions)
        moves = (shape.transition_models, shape.states, shape.actions, shape.states)
        return cls(
            shape=shape,
            users=0,
            rewards=np.zeros(cells),
            visits=np.zeros(cells),
            transitions=np.zeros(moves),
            reports=np.zeros(cells, dtype=np.int64),
            squares=np.zeros(cells) if squares else None,
            arrivals=np.zeros((shape.horizon, shape.states)) if arrivals else None,
        )

    def __add__(self, other: Statistics) -> Statistics:
        return replace(
            self,
            users=self.users + other.users,
            rewards=self.rewards + other.rewards,
            visits=self.visits + other.visits,
            transitions=self.transitions + other.transitions,
            reports=self.reports + other.reports,
            squares=_add(self.squares, other.squares),
            arrivals=_add(self.arrivals, other.arrivals),
            transition_reports=_add(self.transition_reports, other.transition_reports),
            asked=_add(self.asked, other.asked),
        )

    @property
    def move_reports(self) -> FloatArray | IntArray:
        """How many reports went into each row of ``transitions``."""
        if self.transition_reports is None:
            return self.reports[: self.shape.transition_models]
        return self.transition_reports

    @property
    def departures(self) -> FloatArray:
        """Ñ^p(s, a) = Σ_{s'} Ñ^p(s, a, s'), of shape (transition models, S, A)."""
        return self.transitions @ np.ones(self.shape.states)


def _add(left: FloatArray | None, right: FloatArray | None) -> FloatArray | None:
    return None if left is None or right is None else left + right
