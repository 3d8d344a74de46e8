"""How a row's sums scatter: what a learner that bounds noise and sampling together must know.

For one (s, a) and a number θ (a mean reward r, or a probability p(s')), take the functional
D = R̃ − θ·Ñ^r, or D = Ñ^p(s') − θ·Ñ^p. At the true θ each report adds to D a term of conditional
mean 0 given everything before it, whatever the start law: noise and sampling in one martingale.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ldprl.shape import FloatArray, Shape

Quadratic = tuple[float, float, float]
"""c₀ + c₁θ + c₂θ²."""
Linear = tuple[float, float]
"""c₀ + c₁θ."""
FAIR_COIN: Quadratic = (0.0, 1.0, -1.0)
"""θ(1 − θ): the variance of a visit's own outcome."""


@dataclass(frozen=True)
class RowLaw:
    """Variance and range of one report's term in D, as functions of θ.

    Attributes
    ----------
    outside
        E D² of a report whose user did not visit the row.
    inside
        E D² of a report with a visit; with n reports and N visits the variance of D is at most
        n·outside + N·(inside − outside)⁺.
    up, down
        The most that one term adds to D, and takes from it.
    row_outside, row_inside, row_down
        The same for the row sum Ñ − N, from which N is bounded.
    most_visits
        How often one user can visit the row.
    tail
        0 where terms are bounded; else the scale b of sub-gamma tails, ψ(λ) = λ²/(2(1 − bλ)).
    """

    outside: Quadratic
    inside: Quadratic
    up: Linear
    down: Linear
    row_outside: float
    row_inside: float
    row_down: float
    most_visits: float = 1.0
    tail: float = 0.0

    def reach(self, theta: FloatArray) -> FloatArray:
        """Return the most that one term adds to D or takes from it, at θ."""
        up, down = (line[0] + line[1] * theta for line in (self.up, self.down))
        return np.maximum(up, down)

    def numbers(self) -> FloatArray:
        """Return the law as one vector, in the order that compiled code reads it."""
        scalars = (self.row_outside, self.row_inside, self.row_down, self.most_visits, self.tail)
        return np.array([*self.outside, *self.inside, *self.up, *self.down, *scalars])


@dataclass(frozen=True)
class RowLaws:
    """The laws of a mechanism's reward rows and of its transition rows."""

    rewards: RowLaw
    transitions: RowLaw


def additive_laws(
    shape: Shape,
    visits_variance: float,
    rewards_variance: float,
    transitions_variance: float,
    bound: float,
    tail: float = 0.0,
) -> RowLaws:
    """Return the laws of independent noise on every counter, beside the users' own outcomes.

    Noise of variances v_N and v_R gives E D² = v_R + θ²v_N; a visit adds θ(1 − θ). On the S
    counters of a transition row, v·[(1 − θ)² + (S − 1)θ²]. ``bound`` is the most that a single
    draw of noise reaches (0 where ``tail`` bounds it instead); a visit's outcome reaches 1.
    """
    reach = max(bound, 1.0)
    states = shape.states
    reward = RowLaw(
        outside=(rewards_variance, 0.0, visits_variance),
        inside=(rewards_variance, 1.0, visits_variance - 1.0),
        up=(reach, 0.0),
        down=(reach, 0.0),
        row_outside=visits_variance,
        row_inside=visits_variance,
        row_down=reach,
        most_visits=shape.most_visits,
        tail=tail,
    )
    v = transitions_variance
    transition = RowLaw(
        outside=(v, -2 * v, states * v),
        inside=(v, 1.0 - 2 * v, states * v - 1.0),
        up=(reach, 0.0),
        down=(reach, 0.0),
        row_outside=states * v,
        row_inside=states * v,
        row_down=reach,
        most_visits=shape.most_visits,
        tail=tail,
    )
    return RowLaws(reward, transition)
