"""The rivals' planners in plain numpy: slow, obvious, and what the compiled ones equal.

Each takes a learner and sums, and returns the optimistic policy and values.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ldprl.mechanisms.error_laws import ErrorLaws
from ldprl.shape import FloatArray, Policy, Shape
from ldprl.statistics import Statistics
from studies.rivals.dp_ucbvi import DPUCBVI, ProjectedCounts
from studies.rivals.private_ucb_vi import PrivateUCBVI
from studies.rivals.pucb import PUCB
from tests.studies.rivals.trees import errors

Bonus = Callable[[int, FloatArray], FloatArray]
"""Bonus of shape (S, A) at a step, given the values V_{h+1} of the step after it."""


def optimistic_plan(
    shape: Shape, rewards: FloatArray, counts: FloatArray, inverse: FloatArray, bonus: Bonus
) -> tuple[Policy, FloatArray]:
    """Plan with truncated optimism (equation 4 of the paper).

    Q_h(s,a) = r̃(s,a) + b_h(s,a) + p̃(·|s,a)ᵀ V_{h+1}, π_h(s) = argmax_a Q_h(s,a) and
    V_h(s) = min{H − h + 1, max_a Q_h(s,a)}.

    Parameters
    ----------
    shape
        Sizes of the problem.
    rewards
        r̃, of shape (models, S, A); may be signed.
    counts, inverse
        Factors of p̃(s'|s,a) = counts(s,a,s')·inverse(s,a), of shapes (transition models, S, A, S)
        and (transition models, S, A); may be signed. It is cheaper to scale the expectation than
        the model.
    bonus
        What optimism adds; may be infinite.

    Returns
    -------
    policy, values
        Of shapes (H, S) and (H + 1, S).
    """
    policy = np.empty((shape.horizon, shape.states), dtype=np.int64)
    values = np.zeros((shape.horizon + 1, shape.states))
    states = np.arange(shape.states)
    # One matrix-vector product a step, over all (s, a) at once.
    rows = counts.reshape(shape.transition_models, shape.states * shape.actions, shape.states)
    for step in reversed(range(shape.horizon)):
        model = shape.model_of(step)
        action_values = rewards[model] + bonus(step, values[step + 1])
        if step + 1 < shape.horizon:
            future = rows[model] @ values[step + 1]
            action_values += inverse[model] * future.reshape(shape.states, shape.actions)
        policy[step] = action_values.argmax(axis=1)
        values[step] = np.minimum(shape.horizon - step, action_values[states, policy[step]])
    return policy, values


@dataclass(frozen=True)
class CounterErrors:
    """Bounds on |R̃ − R|, |Ñ^r − N^r|, |Σ_{s'} Ñ^p − N^p| and |Ñ^p − N^p|, one for each (s, a)."""

    rewards: FloatArray
    visits: FloatArray
    departures: FloatArray
    transitions: FloatArray


def counter_errors(laws: ErrorLaws, statistics: Statistics, failure: float) -> CounterErrors:
    """Evaluate the mechanism's laws so that they all hold at all times with probability 1 − δ/4.

    The noise of a cell grows with the reports decoded into it; each of the k-th sums may fail with
    3δ/(2π²k²), where k − 1 users have reported, and Σ_k 1/k² = π²/6.
    """
    each = 3 * failure / (2 * math.pi**2 * (statistics.users + 1.0) ** 2)
    reports, moves = statistics.reports + 1.0, statistics.move_reports + 1.0
    return CounterErrors(
        rewards=laws.rewards(reports, each),
        visits=laws.visits(reports, each),
        departures=laws.departures(moves, each),
        transitions=laws.transitions(moves, each),
    )


def private_ucb_vi(self: PrivateUCBVI, statistics: Statistics) -> tuple[Policy, FloatArray]:
    """Return the optimistic policy and values of shape (H + 1, S)."""
    shape = statistics.shape
    errors = counter_errors(self.mechanism.error_laws, statistics, self.failure)
    width = _private_width(self, statistics)
    count = np.maximum(statistics.visits + errors.visits, 1.0)
    reward_width = width / np.sqrt(count) + (3 * errors.visits + errors.rewards) / count
    leaving = np.maximum(statistics.departures + errors.departures, 1.0)
    excess = shape.states * errors.transitions + 2 * errors.departures
    move_width = shape.horizon * (width / np.sqrt(leaving) + excess / leaving)

    def bonus(step: int, _: FloatArray) -> FloatArray:
        model = shape.model_of(step)
        follows = step + 1 < shape.horizon
        return np.asarray(reward_width[model] + (move_width[model] if follows else 0.0))

    return optimistic_plan(
        shape, statistics.rewards / count, statistics.transitions, 1 / leaving, bonus
    )


def _private_width(self: PrivateUCBVI, statistics: Statistics) -> float:
    shape = statistics.shape
    steps = (statistics.users + 1) * shape.horizon
    return math.sqrt(2 * math.log(4 * shape.states * shape.actions * steps / self.failure))


def projected(self: DPUCBVI, statistics: Statistics) -> ProjectedCounts:
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


def dp_ucbvi(self: DPUCBVI, statistics: Statistics) -> tuple[Policy, FloatArray]:
    """Return the optimistic policy and values of shape (H + 1, S)."""
    shape = statistics.shape
    found = projected(self, statistics)
    iota = _iota(self, statistics)
    known, left = found.visits > 0, found.moves > 0
    count, leaving = np.where(known, found.visits, 1.0), np.where(left, found.moves, 1.0)
    reward_width = np.sqrt(2 * iota / count) + found.reward_error / count
    excess = np.maximum(found.move_error, 1.0) / leaving
    excess *= 20.0 * shape.horizon * shape.states * iota

    def bonus(step: int, values: FloatArray) -> FloatArray:
        model = shape.model_of(step)
        if step + 1 == shape.horizon:
            return np.where(known[model], reward_width[model], np.inf)
        moves = found.transitions[model] / leaving[model][..., None]
        variance = np.maximum(moves @ values**2 - (moves @ values) ** 2, 0.0)
        width = 2.0 * np.sqrt(variance * iota / leaving[model]) + excess[model]
        spread = moves @ _uncertainty(self, statistics, found, step + 1)
        width += 4.0 * np.sqrt(iota * spread / leaving[model]) + reward_width[model]
        return np.where(known[model] & left[model], width, np.inf)

    return optimistic_plan(shape, found.rewards / count, found.transitions, 1 / leaving, bonus)


def _uncertainty(
    self: DPUCBVI, statistics: Statistics, found: ProjectedCounts, step: int
) -> FloatArray:
    """Return how far V can be from V* in each state at ``step``, squared: at most H²."""
    shape, iota = statistics.shape, _iota(self, statistics)
    states, actions, horizon = shape.states, shape.actions, shape.horizon
    most = np.full(states, float(horizon**2))
    if not shape.step_dependent:
        return most
    visits = np.maximum(found.visits[step].sum(axis=-1), 1.0)
    error = np.maximum(found.reward_error[step].max(axis=-1), 1.0)
    first = horizon**3 * states * actions * iota**2 / visits
    second = (horizon**4 * error**2 + horizon**6) * states**4 * actions**2 * iota**4
    error_squared: FloatArray = np.minimum(1e6 * (first + second / visits**2), most)
    return error_squared


def _iota(self: DPUCBVI, statistics: Statistics) -> float:
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


def pucb(self: PUCB, released: Statistics) -> tuple[Policy, FloatArray]:
    """Return the optimistic policy and values of shape (H + 1, S) from *released* sums."""
    shape = released.shape
    error, row_error = errors(self.counters, released, self.failure / 2)
    count, sampling, noise = _confidence(self, released.visits, error)
    reward_width = sampling + noise
    leaving, sampling, noise = _confidence(self, released.departures, row_error)
    move_width = shape.horizon * (sampling + shape.states * noise)

    def bonus(step: int, _: FloatArray) -> FloatArray:
        model = shape.model_of(step)
        follows = step + 1 < shape.horizon
        return np.asarray(reward_width[model] + (move_width[model] if follows else 0.0))

    return optimistic_plan(
        shape, released.rewards / count, released.transitions, 1 / leaving, bonus
    )


def _confidence(
    self: PUCB, counts: FloatArray, error: float
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return the counts to divide by, φ and ψ; both are infinite where nothing is known."""
    known = (counts > 0) & (counts >= 2 * error)
    count = np.where(known, counts, 1.0)
    sampling = np.sqrt(2 * self.log_term / np.maximum(count - error, 1.0))
    noise = 3 * error / count + 2 * (error / count) ** 2
    return count, np.where(known, sampling, np.inf), np.where(known, noise, 0.0)
