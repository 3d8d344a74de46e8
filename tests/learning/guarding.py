"""LDP-EVI's guard once more in plain numpy: values in a box of worlds, doubts, watched users."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from ldprl.assignment import Assignment, Plan
from ldprl.learning.confidence import boundary, boundary_rates
from ldprl.learning.guard import FORGETTING, LEAST_WEIGHT, TOLERATED, WATCHED, start_law
from ldprl.learning.ldp_evi import LDPEVI, Plausible
from ldprl.learning.planning import expected_shares
from ldprl.mechanisms.questions.question import Question
from ldprl.policies.tables import Table
from ldprl.shape import FloatArray, Policy
from ldprl.statistics import Statistics
from tests.learning.exploring import best_weights

Box = tuple[FloatArray, FloatArray]


def leaning(low: FloatArray, high: FloatArray, value: FloatArray, *, best: bool) -> FloatArray:
    """Return the largest (or least) pᵀV over {low ≤ p ≤ high, Σp = 1}, laws on the last axis.

    Start from the lower bounds and hand out what is left, best (or worst) state first.
    """
    order = np.argsort(-value if best else value)
    left = np.maximum(1 - low.sum(axis=-1, keepdims=True), 0.0)
    handed = np.minimum(np.cumsum((high - low)[..., order], axis=-1), left)
    shares = np.diff(handed, axis=-1, prepend=0.0)
    # Only where the box misses the simplex, because the confidence set has failed, is there more.
    more = (left - handed[..., -1:])[..., 0]
    return np.asarray(low @ value + shares @ value[order] + more * value[order[0]])


def box_values(
    rewards: FloatArray,
    moves: Box,
    horizon: int,
    policy: Policy | None,
    *,
    best: bool,
) -> tuple[FloatArray, Policy]:
    """Return a policy's values at the first step in the best (or worst) world of the box.

    Without a policy the one of the largest such values is found. Rewards have shape (models, S, A)
    and moves (models, S, A, S).
    """
    states = np.arange(rewards.shape[1])
    taken = np.zeros((horizon, len(states)), dtype=np.int64)
    value = np.zeros(len(states))
    for h in reversed(range(horizon)):
        worth = rewards[min(h, len(rewards) - 1)]
        if h + 1 < horizon:
            g = min(h, len(moves[0]) - 1)
            worth = worth + leaning(moves[0][g], moves[1][g], value, best=best)
        taken[h] = worth.argmax(axis=1) if policy is None else policy[h]
        value = worth[states, taken[h]]
        if best:
            value = np.minimum(value, horizon - h)
    return value, taken


def doubt(model: Plausible, start: Box, policy: Policy, hoped: FloatArray) -> float:
    """Return the largest Σ ρ(V − V_low) over plausible starts; ``hoped`` is V."""
    moves = model.move_low, model.move_high
    known, _ = box_values(model.reward_low, moves, len(policy), policy, best=False)
    return float(leaning(*start, hoped - known, best=True))


def start_box(learner: LDPEVI, statistics: Statistics) -> Box:
    """Return bounds of the start law, from the reports about the first step."""
    states = statistics.shape.states
    if statistics.arrivals is None or statistics.asked is None or statistics.asked[0] < 1:
        return np.zeros(states), np.ones(states)
    variance, reach = start_law(learner.mechanism)
    asked = float(statistics.asked[0])
    threshold = math.log(2 * states / learner.failure_probability)
    error = boundary(asked * variance, reach, 0.0, threshold, boundary_rates(reach))
    low, high = ((statistics.arrivals[0] + sign * error) / asked for sign in (-1, 1))
    return low.clip(0, 1), high.clip(low.clip(0, 1), 1)


def weight(doubted: float, horizon: int) -> float:
    """Return x/(1 + c·log₂(1/x))³ for x = D/H."""
    share = min(doubted / horizon, 1.0)
    if share <= 1e-9:
        # Only where the confidence set has failed.
        return 1.0
    return share / (1 + FORGETTING * math.log2(1 / share)) ** 3


def guarded(learner: LDPEVI, statistics: Statistics, plan: Plan) -> Plan:
    """Return a plan that was made without a guard as the guard leaves it; one answer a user."""
    mechanism, horizon = learner.mechanism, statistics.shape.horizon
    model, start = learner.plausible(statistics), start_box(learner, statistics)
    optimistic, _ = learner.policies(statistics)
    moves = model.move_low, model.move_high
    hoped, _ = box_values(model.reward_high, moves, horizon, None, best=True)
    doubted = doubt(model, start, optimistic, hoped)
    result = []
    for one in plan:
        mild = doubt(model, start, one.table, hoped) <= TOLERATED * doubted + 1e-9
        policy = one.table if mild else optimistic
        result.append(replace(one, policies=Table(policy), share=one.share * (1 - WATCHED)))
    shares = expected_shares(statistics, optimistic, model.moves)
    for what, step in mechanism.questions():
        weights = best_weights(mechanism, what, shares[step]).clip(LEAST_WEIGHT, 1.0)
        share = WATCHED / len(mechanism.questions())
        result.append(Assignment(optimistic, share, (Question(what, step, weights),)))
    scale = weight(doubted, horizon)
    return tuple(
        replace(one, questions=tuple(replace(q, weights=q.weights * scale) for q in one.questions))
        for one in result
    )
