"""LDP-EVI with a guard: whatever its heuristics choose, the regret bound of a theorem holds.

Beyond the paper (page *What the guarded learner promises*). The guard knows the plan's *doubt* D:
how much better the optimistic policy may be than it is sure to be. It scales the weight of every
report by D/H, lets a few users follow the optimistic policy with every question in turn, and
replaces policies that may lose much more than D.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from ldprl.assignment import Assignment, Plan
from ldprl.learning.box import box_values
from ldprl.learning.ldp_evi import LDPEVI, Plausible
from ldprl.mechanisms.mechanism import Mechanism
from ldprl.shape import FloatArray, Policy
from ldprl.statistics import Statistics

WATCHED = 0.02
"""Share of users who follow the optimistic policy and are asked every question in turn. Chosen
among 0.02 and 0.1 on two bandits and three 2×2×2 draws from seed 1000 on, looked at once."""
LEAST_WEIGHT = 0.1
"""Least weight, as a share of D/H, of what they report about a state. Chosen among 1, 0.1 and 0.01
on RiverSwim(6, 20), looked at once: with 1, states that few of them reach get too much noise."""
TOLERATED = 2.0
"""A policy may lose this many times the doubt, by what is known, before it is replaced."""


class LDPEVIGuarded(LDPEVI):
    """LDP-EVI, guarded; for mechanisms that ask questions.

    Parameters
    ----------
    mechanism
        The randomizer that made the reports.
    failure_probability
        δ: the bound holds with probability 1 − 3δ.
    """

    name = "ldp-evi-guarded"
    summary = "LDP-EVI with a guard under which a regret bound is proved"
    title = "LDP-EVI, guarded"
    colour = "#a03c00"
    uses = ()

    def __init__(self, mechanism: Mechanism, *, failure_probability: float = 0.1) -> None:
        super().__init__(mechanism, failure_probability=failure_probability)
        self._start_threshold = math.log(2 * mechanism.shape.states / failure_probability)
        self._start_variance, self._start_reach = start_law(mechanism)

    def plan(self, statistics: Statistics, rng: np.random.Generator) -> Plan:
        """Return LDP-EVI's plan, guarded."""
        chosen = super().plan(statistics, rng)
        if not self.mechanism.questions():
            return chosen
        model, start = self.plausible(statistics), self.start_box(statistics)
        hoped, optimistic = self.value(model, start, None, best=True)
        doubt = hoped - self.value(model, start, optimistic, best=False)[0]
        safe = self.value(model, start, None, best=False)[1]
        weight = min(1.0, max(doubt, 0.0) / statistics.shape.horizon)
        result = [
            _weighed(one, one.policy, weight, 1.0)
            for one in self._watched(model, start, optimistic)
        ]
        for one in chosen:
            known = self.value(model, start, one.policy, best=False)[0]
            policy = one.policy if hoped - known <= TOLERATED * doubt + 1e-9 else safe
            result.append(_weighed(one, policy, weight, 1 - WATCHED))
        return tuple(result)

    def _watched(
        self, model: Plausible, start: tuple[FloatArray, FloatArray], optimistic: Policy
    ) -> Plan:
        """Return the optimistic policy with every question.

        A report counts for little in states where few are expected: with noise v and outcomes of
        variance u = 1/4, o(v + u)/(v + o·u) is the best weight where a share o of users is.
        """
        shape, laws = self.mechanism.shape, self.mechanism.row_laws
        noise = max(laws.rewards.outside[0], laws.transitions.outside[0])
        weights, states = [], np.arange(shape.states)
        here = (start[0] + start[1]) / (start[0] + start[1]).sum()
        for h in range(shape.horizon):
            weights.append(here * (noise + 0.25) / (noise + here * 0.25))
            g = min(shape.model_of(h), len(model.moves) - 1)
            here = here @ model.moves[g, states, optimistic[h]]
        result = []
        for one in self.mechanism.ask((Assignment(optimistic, WATCHED),)):
            questions = tuple(
                replace(asked, weights=weights[asked.step].clip(LEAST_WEIGHT, 1.0))
                for asked in one.questions
            )
            result.append(replace(one, questions=questions))
        return tuple(result)

    def start_box(self, statistics: Statistics) -> tuple[FloatArray, FloatArray]:
        """Return bounds of the start law that hold at all times, from reports about step 0."""
        from ldprl.learning.planners.confidence import boundary

        states = statistics.shape.states
        low, high = np.zeros(states), np.ones(states)
        if statistics.arrivals is None or statistics.asked is None or statistics.asked[0] < 1:
            return low, high
        asked = float(statistics.asked[0])
        rates = 20 / self._start_reach * 1.6 ** -np.arange(36.0)
        error = boundary(
            asked * self._start_variance, self._start_reach, 0.0, self._start_threshold, rates
        )
        seen = statistics.arrivals[0] / asked
        low, high = (seen - error / asked).clip(0, 1), (seen + error / asked).clip(0, 1)
        return np.minimum(low, high), high

    def value(
        self,
        model: Plausible,
        start: tuple[FloatArray, FloatArray],
        policy: Policy | None,
        *,
        best: bool,
    ) -> tuple[float, Policy]:
        """Return the value of a policy, or of the best one, in the best or worst world."""
        rewards = model.reward_high if best else model.reward_low
        moves = model.move_low, model.move_high
        return box_values(rewards, moves, start, self.mechanism.shape.horizon, policy, best=best)


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


def _weighed(one: Assignment, policy: Policy, weight: float, share: float) -> Assignment:
    questions = tuple(replace(asked, weights=asked.weights * weight) for asked in one.questions)
    return Assignment(policy, one.share * share, questions)
