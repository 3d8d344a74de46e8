"""The regret bound of the guarded LDP-EVI, with the constants of its proof.

Page *What the guarded learner promises*.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ldprl.errors import positive, probability, whole_number
from ldprl.learning.guarded import LEAST_WEIGHT, TOLERATED, WATCHED, start_law
from ldprl.mechanisms.rows import RowLaw

if TYPE_CHECKING:
    from ldprl.mechanisms.mechanism import Mechanism


@dataclass(frozen=True)
class GuardedBound:
    """What the guarded learner's regret is at most, with probability 1 − 3δ.

    Attributes
    ----------
    doubts
        Ξ: the squared doubts of all users' plans sum to at most this.
    tolerated
        κ: a user loses at most κ times the doubt of the plan.
    largest_plan
        β: plans must serve at most β users, or βH/D where the doubt D is less than H.
    episodes
        K.
    """

    doubts: float
    tolerated: float
    largest_plan: float
    episodes: int

    @property
    def regret(self) -> float:
        """κ√(KΞ), whatever the world."""
        return self.tolerated * math.sqrt(self.episodes * self.doubts)

    def with_gap(self, gap: float) -> float:
        """Return κ²Ξ/Γ: where every policy that is not best loses at least Γ per user."""
        return self.tolerated**2 * self.doubts / positive("gap", gap)


def guarded_upper_bound(
    mechanism: Mechanism,
    episodes: int,
    failure: float,
    *,
    watched: float = WATCHED,
    least_weight: float = LEAST_WEIGHT,
    tolerated: float = TOLERATED,
) -> GuardedBound:
    """Evaluate the theorem: Ξ = (a + a₀)² + 2bH.

    Parameters
    ----------
    mechanism
        A mechanism that asks questions; its row laws are exact.
    episodes
        K.
    failure
        δ of the learner.
    watched, least_weight, tolerated
        The guard's share of watched users, the least of their weights, and κ. With 1, 1, 1
        everybody follows the optimistic policy.
    """
    episodes = whole_number("episodes", episodes, 1)
    failure = probability("failure", failure, zero=False)
    shape, laws = mechanism.shape, mechanism.row_laws
    states, horizon = shape.states, shape.horizon
    rows = shape.cells
    sides = 2 * (states if states > 2 else 1) + 4
    log = math.log(36 * rows * sides / failure)
    visits_log = math.log((2 * rows + 1) / failure)
    share = watched / (2 * horizon)
    reach = share * least_weight
    reward_noise, move_noise = row_noise(laws.rewards, 0), row_noise(laws.transitions, states)
    extra = [20.8 * _range(law) * log + 4 * visits_log for law in (laws.rewards, laws.transitions)]
    log_visits = math.log2(1 + episodes / min(extra))

    spread = states * math.sqrt(shape.models * shape.actions * mechanism.answers * log)
    ahead = (horizon - 1) * states
    noise = math.sqrt(reward_noise) + 3 * ahead * math.sqrt(move_noise)
    a = 36.8 * log_visits / reach * spread * noise
    b = 2 * log_visits / reach * rows * (extra[0] + 2 * ahead * extra[1])
    a_start = 2 * horizon * math.sqrt(_start(mechanism, episodes, failure, share, visits_log))
    doubts = (a + a_start) ** 2 + 2 * b * horizon
    return GuardedBound(doubts, tolerated, min(extra) / reach, episodes)


def guarded_rate(states: int, actions: int, horizon: int, episodes: int, epsilon: float) -> float:
    """Return H²S²√(AKv), v = 4e^ε/(e^ε − 1)²: its order, constant 1 and no logarithms."""
    epsilon = positive("epsilon", epsilon)
    noise = 1 / math.sinh(min(epsilon, 700.0) / 2)
    return horizon**2 * states**2 * math.sqrt(actions * episodes) * noise


def rivals_rate(states: int, actions: int, horizon: int, episodes: int, epsilon: float) -> float:
    """Return S²A√(H⁵T)/ε, T = KH: Chowdhury and Zhou (2022); Qiao and Wang (2023) have its order.

    Constant 1, logarithms dropped; the terms without √K are left out.
    """
    epsilon = positive("epsilon", epsilon)
    return states**2 * actions * horizon**3 * math.sqrt(episodes) / epsilon


def row_noise(law: RowLaw, states: int) -> float:
    """Return the least v (on a grid) with variance ≤ v(1 + Sθ²) for all θ, for ``states`` S.

    A visit's extra variance counts as if all reports had it. The row sum's must be at most 4v(1+S).
    """
    theta = np.linspace(0, 1, 1001)
    shape = 1 + states * theta**2
    outside = np.polynomial.polynomial.polyval(theta, law.outside)
    extra = np.polynomial.polynomial.polyval(theta, law.inside) - outside
    v = max((outside / shape).max(), 0.0) + max((extra / shape).max(), 0.0)
    # Between two points of the grid the quotients change by less than this share.
    return float(max(1.01 * v, max(law.row_outside, law.row_inside) / (4 * (1 + states))))


def _range(law: RowLaw) -> float:
    return max(law.up[0], sum(law.up), law.down[0], sum(law.down), law.row_down)


def _start(
    mechanism: Mechanism, episodes: int, failure: float, share: float, visits_log: float
) -> float:
    """Return T₀, what the squared widths of the start law sum to over all users."""
    states = mechanism.shape.states
    variance, reach = start_law(mechanism)
    log = math.log(72 * states / failure)
    first = 16 * visits_log / share
    slow = 42.4 * variance * log * (1 + math.log(episodes)) / share
    fast = 6.76 * 64 * (reach * log / share) ** 2 * 2 / first
    return first + 2 * states**2 * (slow + fast)
