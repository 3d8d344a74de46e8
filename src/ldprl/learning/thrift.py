"""Exploring at a low price: of two ways to a question, the one that tells more for what it costs.

Optimism says what should be tried; it need not be tried by playing the optimistic policy all the
way. Where the greedy policy leads to the row as well, a user who follows it and steps aside once
tells the same and loses little.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ldprl.assignment import Assignment, Plan
from ldprl.learning.extended import policy_value
from ldprl.learning.questions import candidates, expected_shares, spread
from ldprl.mechanisms.mechanism import Mechanism
from ldprl.shape import FloatArray, Policy
from ldprl.statistics import Statistics

_LEAST_PRICE = 0.01
"""No way counts as cheaper than this share of all that is uncertain: while little is known, what
a way costs is not known either."""


def thrifty_plan(
    mechanism: Mechanism,
    statistics: Statistics,
    needs: FloatArray,
    rewards: FloatArray,
    moves: FloatArray,
    optimistic: Policy,
    greedy: Policy,
    shares: FloatArray,
    part: float,
    rng: np.random.Generator,
) -> Plan:
    """Return what ``part`` of the users explore: the questions worth most for what they cost.

    A question can be reached by the optimistic policy or by the greedy one, and at the asked step
    the optimistic action is played either way. Its price is what the policy loses against the
    greedy one in the point model (``rewards``, ``moves``); its worth is divided by that.
    """
    if not mechanism.questions():
        return (Assignment(optimistic, part),)
    each_step = statistics.shape.step_dependent
    usual = expected_shares(statistics, greedy, moves)
    start = usual[0]
    best = policy_value(greedy, start, rewards, moves, each_step)
    least = _LEAST_PRICE * float(needs.sum())
    found = []
    for way, spreads in ((optimistic, shares), (greedy, usual)):
        for it in candidates(mechanism, statistics, needs, way, optimistic, greedy, spreads):
            loss = best - policy_value(it.policy, start, rewards, moves, each_step)
            found.append(replace(it, worth=it.worth / (max(loss, 0.0) + least + 1e-12)))
    return spread(mechanism, statistics, needs, moves, found, part, rng)
