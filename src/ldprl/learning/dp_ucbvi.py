"""DP-UCBVI (Qiao & Wang 2022, *Near-optimal differentially private reinforcement learning*)."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from ldprl.assignment import Assignment
from ldprl.errors import probability
from ldprl.learning.counter_errors import counter_errors
from ldprl.learning.learner import Learner
from ldprl.learning.planning import optimistic_plan
from ldprl.mechanisms.mechanism import Mechanism
from ldprl.shape import FloatArray, Policy
from ldprl.statistics import Statistics

_VARIANCE, _EXCESS, _SPREAD, _LATE = 2.0, 20.0, 4.0, 1000.0**2
"""The factors of the bonus, in the order of the terms in :class:`DPUCBVI`."""


@dataclass(frozen=True)
class ProjectedCounts:
    """Counts that could be true ones, each within E of the truth where the laws hold.

    ``visits`` and ``moves`` are never below the true number of visits and departures, and the
    rows of ``transitions`` sum to ``moves``: p̃ = transitions/moves is a distribution.
    """

    rewards: FloatArray
    visits: FloatArray
    reward_error: FloatArray
    transitions: FloatArray
    moves: FloatArray
    move_error: FloatArray


class DPUCBVI(Learner):
    """Optimistic value iteration with a Bernstein bonus on counts made a distribution again.

    With ι = ln(HSAT/δ), E ≥ 1 the error of the projected counts Ñ and N' = Ñ_{h+1}(s'),

        b = 2√(Var_p̃(V)·ι/Ñ) + √(2ι/Ñ) + 20·H·S·E·ι/Ñ
            + 4√(ι/Ñ · Σ_{s'} p̃(s')·min{10⁶(H³SAι²/N' + (H⁴E² + H⁶)·S⁴A²ι⁴/N'²), H²}).

    What we took. The form is theirs, the numerical factors (2, 20, 4, 10⁶) are as we know them
    and were not checked against the printed text; optimism is tested. Where one model serves all
    steps no private counter tells N' of a single step, and the last minimum is H². (10⁶ makes it
    H² below some 10⁹ users anyway.) Rewards have their own count, with √(2ι/Ñ) + E/Ñ, and nothing
    else is added at the last step. Q_k is not held below Q_{k−1}, so that the policy is a
    function of the sums alone. T is the number of steps so far.

    Parameters
    ----------
    mechanism
        The randomizer that made the reports; its laws give E.
    failure_probability
        δ.
    """

    name = "dp-ucbvi"
    title = "DP-UCBVI"
    colour = "#e69f00"
    promise = "regret bound in its own paper; optimism tested here"
    forecast_with = ("laplace",)
    summary = "DP-UCBVI of Qiao & Wang (2022): projected counts, Bernstein bonus; any mechanism"
    private = True

    def __init__(self, mechanism: Mechanism, *, failure_probability: float = 0.1) -> None:
        self.mechanism = mechanism
        self.failure = probability("failure_probability", failure_probability, zero=False)

    def plan(self, statistics: Statistics, rng: np.random.Generator) -> tuple[Assignment, ...]:
        """Return the optimistic policy for all of the next users."""
        return (Assignment(self.optimistic(statistics)[0]),)

    def projected(self, statistics: Statistics) -> ProjectedCounts:
        """Return counts that are ≥ 0 and consistent, as near to the private ones as they can be.

        All private sums are within E/4 of the truth, the projected ones therefore within E/2, and
        E/2 on top of a row puts its sum above the true one.
        """
        errors = counter_errors(self.mechanism.error_laws, statistics, self.failure)
        reward_error = 4 * np.maximum(errors.rewards, errors.visits)
        move_error = 4 * np.maximum(errors.departures, errors.transitions)
        visits = np.maximum(statistics.visits, 0.0) + reward_error / 2
        transitions = project(statistics.transitions, move_error / 4)
        transitions += move_error[..., None] / (2 * statistics.shape.states)
        return ProjectedCounts(
            rewards=np.clip(statistics.rewards, 0.0, visits),
            visits=visits,
            reward_error=reward_error,
            transitions=transitions,
            moves=transitions.sum(axis=-1),
            move_error=move_error,
        )

    def optimistic(self, statistics: Statistics) -> tuple[Policy, FloatArray]:
        """Return the optimistic policy and values of shape (H + 1, S)."""
        shape = statistics.shape
        found = self.projected(statistics)
        iota = self._iota(statistics)
        known, left = found.visits > 0, found.moves > 0
        count, leaving = np.where(known, found.visits, 1.0), np.where(left, found.moves, 1.0)
        reward_width = np.sqrt(2 * iota / count) + found.reward_error / count
        excess = np.maximum(found.move_error, 1.0) / leaving
        excess *= _EXCESS * shape.horizon * shape.states * iota

        def bonus(step: int, values: FloatArray) -> FloatArray:
            model = shape.model_of(step)
            if step + 1 == shape.horizon:
                return np.where(known[model], reward_width[model], np.inf)
            moves = found.transitions[model] / leaving[model][..., None]
            variance = np.maximum(moves @ values**2 - (moves @ values) ** 2, 0.0)
            width = _VARIANCE * np.sqrt(variance * iota / leaving[model]) + excess[model]
            spread = moves @ self._uncertainty(statistics, found, step + 1)
            width += _SPREAD * np.sqrt(iota * spread / leaving[model]) + reward_width[model]
            return np.where(known[model] & left[model], width, np.inf)

        return optimistic_plan(shape, found.rewards / count, found.transitions, 1 / leaving, bonus)

    def _uncertainty(self, statistics: Statistics, found: ProjectedCounts, step: int) -> FloatArray:
        """Return how far V can be from V* in each state at ``step``, squared: at most H²."""
        shape, iota = statistics.shape, self._iota(statistics)
        states, actions, horizon = shape.states, shape.actions, shape.horizon
        most = np.full(states, float(horizon**2))
        if not shape.step_dependent:
            return most
        visits = np.maximum(found.visits[step].sum(axis=-1), 1.0)
        error = np.maximum(found.reward_error[step].max(axis=-1), 1.0)
        first = horizon**3 * states * actions * iota**2 / visits
        second = (horizon**4 * error**2 + horizon**6) * states**4 * actions**2 * iota**4
        error_squared: FloatArray = np.minimum(_LATE * (first + second / visits**2), most)
        return error_squared

    def _iota(self, statistics: Statistics) -> float:
        shape = statistics.shape
        steps = (statistics.users + 1) * shape.horizon
        cells = shape.horizon * shape.states * shape.actions
        return math.log(cells * steps / self.failure)


def project(counts: FloatArray, slack: FloatArray) -> FloatArray:
    """Return x ≥ 0 with |Σx − Σn| ≤ slack and the least max|x − n|, for each row n of ``counts``.

    Their linear programme in closed form. At distance t the entries of x range over
    [(n − t)⁺, n + t]: t must reach −min n, and Σ(n − t)⁺ ≤ Σn + slack, which holds from the point
    of water-filling on. Between those bounds x is taken so that its sum is the private one, or as
    near as can be. A row whose sum is below −slack, which the laws exclude, becomes 0.
    """
    total = counts.sum(axis=-1)
    budget = np.maximum(total + slack, 0.0)
    falling = -np.sort(-counts, axis=-1)
    # With the j largest above the water, its level is their sum less the budget, over j.
    levels = (np.cumsum(falling, axis=-1) - budget[..., None]) / np.arange(1, counts.shape[-1] + 1)
    distance = np.maximum(levels.max(axis=-1), np.maximum(-counts.min(axis=-1), 0.0))[..., None]
    low, high = np.maximum(counts - distance, 0.0), np.maximum(counts + distance, 0.0)
    least, room = low.sum(axis=-1), (high - low).sum(axis=-1)
    wanted = np.clip(total - least, 0.0, room)
    share = np.divide(wanted, room, out=np.zeros_like(room), where=room > 0)
    result: FloatArray = low + share[..., None] * (high - low)
    return result
