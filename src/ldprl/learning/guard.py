"""LDP-EVI's guard: it keeps a plan within the assumptions of the regret bound.

Page *What LDP-EVI promises*. The *doubt* of a policy is how far it may be below the best one, by
what is known. A policy of much more doubt than the optimistic one has is replaced by that one, a
few users follow it and are asked every question in turn, and reports weigh by its doubt.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from ldprl.kernels.arrays import PlanBuffer, Sizes
from ldprl.kernels.compiling import kernel
from ldprl.kernels.values import GIVEN, UNCAPPED, backward
from ldprl.learning.confidence import boundary_rates, growth_room, upper_boundary
from ldprl.learning.exploration import Asker, best_other
from ldprl.learning.optimism import PlausibleModel, best_mean, sort_states
from ldprl.learning.questions import ask
from ldprl.mechanisms.mechanism import Mechanism
from ldprl.shape import FloatArray, IntArray

WATCHED = 0.002
"""Share of users who follow the optimistic policy and are asked every question in turn: a larger
one costs regret, a smaller one lets doubt last (studies/constants.md)."""
LEAST_WEIGHT = 0.1
"""Least weight, as a share of the plan's, of what they report about a state: with 1, states that
few of them reach get too much noise (studies/constants.md)."""
TOLERATED = 2.0
"""A policy may have this many times the optimistic one's doubt before it is replaced
(studies/constants.md)."""
FORGETTING = 0.02
"""c in the weight x/(1 + c·log₂(1/x))³ of reports, x the doubt as a share of the horizon. Any c > 0
keeps the bound free of K, a large one throws reports away (studies/constants.md)."""
_ROUNDING = 1e-9
"""Doubts that differ by less are equal."""


class Guard(NamedTuple):
    """What the guard knows of the start, and room to find values in the worst plausible world.

    Attributes
    ----------
    variance, reach, threshold, rates, growth
        Of one report's count of a start state, minus its mean, and what its boundary needs.
    low, high
        The plausible start laws.
    short, by_short
        How far a policy may be below the best one from each state, and the states in that order.
    losses, values, order
        Rewards and values of an opponent who is paid −r: their best world is the worst one.
    """

    variance: float
    reach: float
    threshold: float
    rates: FloatArray
    growth: FloatArray
    low: FloatArray
    high: FloatArray
    short: FloatArray
    by_short: IntArray
    losses: FloatArray
    values: FloatArray
    order: IntArray


def guard_for(mechanism: Mechanism, failure: float) -> Guard:
    """Return the guard; the start law is in its bounds at all times but with chance ``failure``."""
    shape = mechanism.shape
    states, horizon = shape.states, shape.horizon
    variance, reach = start_law(mechanism)
    return Guard(
        variance=variance,
        reach=reach,
        threshold=math.log(2 * states / failure),
        rates=boundary_rates(reach),
        growth=growth_room(),
        low=np.zeros(states),
        high=np.ones(states),
        short=np.zeros(states),
        by_short=np.arange(states),
        losses=np.zeros(shape.cells),
        values=np.zeros((horizon + 1, states)),
        order=np.tile(np.arange(states), (horizon, 1)),
    )


def start_law(mechanism: Mechanism) -> tuple[float, float]:
    """Return variance and range of one report's count of a start state, minus its mean.

    The count errs by the noise of a row sum, and the start itself is a draw: 1/4 more.
    """
    laws, states = mechanism.row_laws, mechanism.shape.states
    variance = reach = 0.0
    for law, cells in ((laws.rewards, 2), (laws.transitions, states)):
        variance = max(variance, law.row_outside, law.row_inside)
        reach = max(reach, law.row_down, cells * law.up[0])
    return variance + 0.25, reach + 1


@kernel
def bound_start(guard: Guard, asked: FloatArray, arrivals: FloatArray) -> None:
    """Bound the start law from the reports about the first step."""
    low, high = guard.low, guard.high
    count, error = asked[0], 0.0
    if count > 0:
        error = upper_boundary(
            count * guard.variance, guard.reach, 0.0, guard.threshold, guard.rates, guard.growth,
            0.0,
        )  # fmt: skip
    for s in range(low.size):
        low[s], high[s] = 0.0, 1.0
        if count > 0:
            low[s] = min(max((arrivals[s] - error) / count, 0.0), 1.0)
            high[s] = min(max((arrivals[s] + error) / count, low[s]), 1.0)


@kernel
def doubt_of(
    sizes: Sizes, guard: Guard, reward_low: FloatArray, move_low: FloatArray,
    move_high: FloatArray, hoped: FloatArray, policy: IntArray,
) -> float:  # fmt: skip
    """Return max_ρ Σ ρ(s)·(V(s) − V_low(s)): ``hoped`` is V, and V_low that of ``policy``.

    V_low is its value in the worst plausible world; ρ are the plausible start laws.
    """
    losses, values, short, by_short = guard.losses, guard.values, guard.short, guard.by_short
    for cell in range(losses.size):
        losses[cell] = -reward_low[cell]
    opponent = PlausibleModel(sizes, losses, move_low, move_high, guard.order)
    backward(opponent, sizes, values, policy, GIVEN, UNCAPPED)
    for s in range(sizes.states):
        short[s] = hoped[s] + values[0, s]
    sort_states(by_short, short)
    return best_mean(guard.low, guard.high, by_short, short)


@kernel
def weight_of(doubt: float) -> float:
    """Return x/(1 + c·log₂(1/x))³, x the doubt as a share of the horizon.

    No doubt at all is left only where the confidence set has failed: then reports keep their
    weight.
    """
    share = min(doubt, 1.0) if doubt > _ROUNDING else 1.0
    return share / (1 - FORGETTING * math.log2(share)) ** 3


@kernel
def replace_doubtful(
    sizes: Sizes, guard: Guard, reward_low: FloatArray, move_low: FloatArray,
    move_high: FloatArray, hoped: FloatArray, optimistic: IntArray, doubt: float,
    buffer: PlanBuffer,
) -> None:  # fmt: skip
    """Replace policies of more than κ times the ``doubt`` that the optimistic one has."""
    for i in range(buffer.used[0]):
        policy = buffer.policies[i]
        found = doubt_of(sizes, guard, reward_low, move_low, move_high, hoped, policy)
        if found > TOLERATED * doubt + _ROUNDING:
            for place in range(policy.size):
                policy[place] = optimistic[place]


@kernel
def watch(
    asker: Asker,
    reports: FloatArray,
    move_reports: FloatArray,
    optimistic: IntArray,
    buffer: PlanBuffer,
) -> None:
    """Give a few users the optimistic policy and every question in turn.

    ``asker.further`` has the shares of users in each state under that policy.
    """
    questions, shares = asker.step.size, asker.further
    for i in range(buffer.used[0]):
        buffer.shares[i] *= 1 - WATCHED
    for q in range(questions):
        at = buffer.used[0]
        buffer.used[0] = at + 1
        buffer.shares[at], buffer.asked[at] = WATCHED / questions, asker.answers
        policy, asked, weights = buffer.policies[at], buffer.questions[at], buffer.weights[at]
        for place in range(policy.size):
            policy[place] = optimistic[place]
        asked[0] = q
        ask(asker, shares, q, weights[0])
        for s in range(weights.shape[1]):
            weights[0, s] = max(weights[0, s], LEAST_WEIGHT)
        for place in range(1, asker.answers):
            other = best_other(asker, reports, move_reports, policy, asked, place)
            asked[place] = other
            ask(asker, shares, other, weights[place])


@kernel
def weigh(weight: float, buffer: PlanBuffer) -> None:
    """Multiply the weights of all reports."""
    for i in range(buffer.used[0]):
        for place in range(buffer.asked[i]):
            for s in range(buffer.weights.shape[2]):
                buffer.weights[i, place, s] *= weight
