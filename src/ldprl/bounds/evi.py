"""The regret bound of LDP-EVI, with the constants of its proof.

Page *What LDP-EVI promises*.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ldprl.bounds.lower import sizes_of
from ldprl.errors import InputError, positive, probability, whole_number
from ldprl.learning.guard import FORGETTING, LEAST_WEIGHT, TOLERATED, WATCHED, start_law
from ldprl.mechanisms.mechanism import Mechanism
from ldprl.mechanisms.row_laws import RowLaw

_CLASSES = 2000
"""Classes of doubt that the sums over all classes go to; the rest is bounded by an integral."""


@dataclass(frozen=True)
class EVIBound:
    """What LDP-EVI's regret is at most, with probability 1 − 3δ.

    Users are put into classes by the doubt of their plan: in class j it is H·2⁻ʲ at most and more
    than half of that. Σ wD over the users of class j is at most L_j·(A√V + B) + H√(V·T_j).

    Attributes
    ----------
    root, constant
        A and B of theorem 3.
    horizon
        H.
    forgetting
        c: reports have weights of x/(1 + c·log₂(1/x))³ at most, x = D/H.
    tolerated
        κ: a user loses at most κ times the doubt of the plan.
    visited
        ωλ/e, times H where all steps share a model: visits that a weight adds, in units of X.
    start
        k₀ and the two numbers by which the start's widths add up to T = k₀ + t₁·ln(1 + n/k₀) + t₂.
    largest_plan
        β: a plan may serve at most β users, or β/w where its reports weigh w < 1.
    """

    root: float
    constant: float
    horizon: int
    forgetting: float
    tolerated: float
    visited: float
    start: tuple[float, float, float]
    largest_plan: float

    @cached_property
    def weight(self) -> float:
        """V: the squared weights of all reports sum to at most this, whatever K.

        The largest solution of V = Λ(V)·(A√V + B)/H + √(V·Σ_j g_j²T_j(V)), Λ = Σ_j g_j·L_j(V).
        """
        found = 1e300
        for _ in range(500):
            logs, starts = self._sums(found)
            slope = self.root * logs / self.horizon + math.sqrt(starts)
            rest = self.constant * logs / self.horizon
            lower = ((slope + math.sqrt(slope**2 + 4 * rest)) / 2) ** 2
            if lower > found * (1 - 1e-9):
                break
            found = lower
        return found

    def regret(self, episodes: int | None = None, gap: float | None = None) -> float:
        """Return the bound after K users, or for any number of them where there is a gap.

        Parameters
        ----------
        episodes
            K; None for a bound without K, which needs a gap.
        gap
            Γ: every policy that is not best loses at least this much per user.
        """
        if episodes is None and gap is None:
            raise InputError("gap", gap, "a gap, or a number of users")
        users = math.inf if episodes is None else float(whole_number("episodes", episodes, 1))
        last = _CLASSES
        if gap is not None:
            last = math.floor(
                math.log2(max(self.tolerated * self.horizon / positive("gap", gap), 1))
            )
        total, paid = 0.0, math.inf
        for j in range(last + 1):
            # Users of all further classes lose at most this much: stop where that is cheaper.
            paid = min(paid, total + users * self.horizon * 2.0**-j)
            if total >= paid:
                break
            total += self._class(j, users)
        return self.tolerated * min(total, paid)

    def _class(self, j: int, users: float) -> float:
        """Return the most that the doubts of class j sum to."""
        weight, least = min(self.weight, users), self._least(j)
        most = min(users, weight / least**2)
        logs = math.log2(1 + self.visited * min(weight / least, users * 2.0**-j))
        start = math.sqrt(weight * self._start(most))
        doubts = (
            logs * (self.root * math.sqrt(weight) + self.constant) + self.horizon * start
        ) / least
        return min(doubts, users * self.horizon * 2.0**-j)

    def _least(self, j: int) -> float:
        """Return the least weight in class j."""
        return 2.0 ** -(j + 1) / (1 + self.forgetting * (j + 1)) ** 3

    def _start(self, users: float) -> float:
        first, slow, fast = self.start
        return first + slow * math.log1p(users / first) + fast

    def _sums(self, weight: float) -> tuple[float, float]:
        """Return Σ_j g_j·L_j and Σ_j g_j²·T_j, the tails by integrals."""
        j = np.arange(_CLASSES)
        g = (1 + self.forgetting * j) ** -3.0
        steps = 3 * np.log2(1 + self.forgetting * (j + 1)) + j + 1
        logs = np.logaddexp2(0, math.log2(self.visited * weight) + steps)
        first, slow, fast = self.start
        users = np.logaddexp(0, math.log(weight / first) + 2 * math.log(2) * steps)
        start = first + slow * users + fast
        # Behind the last class L_j and T_j grow no faster than j, and g_j falls like (cj)⁻³.
        last, c = _CLASSES - 1, self.forgetting
        end = 1 / (c**2 * last * (1 + c * last))
        return (
            float((g * logs).sum() + logs[-1] * end),
            float((g**2 * start).sum() + start[-1] * end * g[-1]),
        )


def evi_upper_bound(
    mechanism: Mechanism,
    failure: float,
    *,
    largest_plan: float | None = None,
    watched: float = WATCHED,
    least_weight: float = LEAST_WEIGHT,
    tolerated: float = TOLERATED,
) -> EVIBound:
    """Evaluate theorem 3.

    Parameters
    ----------
    mechanism
        A mechanism that asks questions; its row laws are exact.
    failure
        δ of the learner.
    largest_plan
        β; without one, the largest that costs nothing.
    watched, least_weight, tolerated
        The guard's share of watched users, the least of their weights, and κ. With 1, 1, 1
        everybody follows the optimistic policy and is asked every question in turn.
    """
    failure = probability("failure", failure, zero=False)
    questions = len(mechanism.questions())
    if questions == 0:
        raise InputError("mechanism", mechanism.name, "one that asks questions")
    shape, laws = mechanism.shape, mechanism.row_laws
    states, horizon, rows = shape.states, shape.horizon, shape.cells
    sides = 2 * (states if states > 2 else 1) + 4
    log = math.log(36 * rows * sides / failure)
    visits_log = math.log((2 * rows + 1) / failure)
    share = watched / questions
    reach = share * least_weight
    extra = [20.8 * _range(law) * log + 4 * visits_log for law in (laws.rewards, laws.transitions)]
    # A model that is the same at every step has rows that a user may visit H times.
    visits = reach * shape.most_visits
    if largest_plan is None:
        largest_plan = min(extra) / visits
    extra = [max(one, visits * positive("largest_plan", largest_plan)) for one in extra]
    reward_noise, move_noise = row_noise(laws.rewards, 0), row_noise(laws.transitions, states)
    spread = states * math.sqrt(shape.models * shape.actions * mechanism.answers * log)
    ahead = (horizon - 1) * states
    noise = math.sqrt(reward_noise) + 3 * ahead * math.sqrt(move_noise)
    return EVIBound(
        root=36.8 / reach * spread * noise,
        constant=2 / reach * rows * (extra[0] + 2 * ahead * extra[1]),
        horizon=horizon,
        forgetting=FORGETTING,
        tolerated=tolerated,
        visited=visits / min(extra),
        start=_start(mechanism, failure, share, visits_log),
        largest_plan=largest_plan,
    )


def evi_rate(states: int, actions: int, horizon: int, episodes: int, epsilon: float) -> float:
    """Return H²S²√(AKv), v = 4e^ε/(e^ε − 1)²: its order, constant 1 and no logarithms."""
    states, actions, horizon, episodes = sizes_of(states, actions, horizon, episodes)
    noise = 1 / math.sinh(min(positive("epsilon", epsilon), 700.0) / 2)
    return horizon**2 * states**2 * math.sqrt(actions * episodes) * noise


def rivals_rate(states: int, actions: int, horizon: int, episodes: int, epsilon: float) -> float:
    """Return S²A√(H⁵T)/ε, T = KH: Chowdhury and Zhou (2022); Qiao and Wang (2023) have its order.

    Constant 1, logarithms dropped; the terms without √K are left out.
    """
    states, actions, horizon, episodes = sizes_of(states, actions, horizon, episodes)
    return states**2 * actions * horizon**3 * math.sqrt(episodes) / positive("epsilon", epsilon)


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
    mechanism: Mechanism, failure: float, share: float, visits_log: float
) -> tuple[float, float, float]:
    """Return k₀, t₁ and t₂: squared widths of the start law sum to k₀ + t₁·ln(1 + n/k₀) + t₂."""
    states = mechanism.shape.states
    variance, reach = start_law(mechanism)
    log = math.log(72 * states / failure)
    first = 16 * visits_log / share + 1
    slow = 2 * states**2 * 42.4 * variance * log / share
    fast = 2 * states**2 * 6.76 * 64 * (reach * log / share) ** 2 / first
    return first, slow, fast
