"""Random search: the naive way to a policy from the same bits, to compare others with."""

from __future__ import annotations

import math

import numpy as np

from ldprl.assignment import Assignment, Plan
from ldprl.errors import InputError
from ldprl.learning.learner import Learner, check_mechanism
from ldprl.mechanisms.mechanism import Mechanism
from ldprl.mechanisms.questions.returns import UNIT
from ldprl.mechanisms.questions.threshold import CELLS, Threshold
from ldprl.mechanisms.return_sums import LawSums, ReturnSums
from ldprl.mechanisms.threshold_bits import ThresholdBits
from ldprl.policies.parametric import Parametric, ParametricPolicy
from ldprl.policies.perturbed import Perturbed
from ldprl.policies.written import Float32Array

_FIRST, _SHARE = 200.0, 0.05
"""The users of a plan, as LDP-ES has them: 200·v, or this share of the users so far."""


class RandomSearch(Learner):
    """Half of the users try a policy drawn around the best so far, half run that one again.

    The next centre is the policy with the largest mean return, of all that were tried (Rastrigin
    1963). A mean return is that of the decoded bits: with thresholds over the whole range it is
    unbiased. Nothing is learnt of why a policy is good.
    """

    name = "random-search"
    summary = "random search, the naive baseline for policies with parameters"
    title = "Random search"
    colour = "#b0763a"
    usual_mechanism = "threshold-bits"
    statistics_kind = "returns"
    mechanism: ThresholdBits

    def __init__(self, mechanism: Mechanism) -> None:
        check_mechanism(mechanism)
        if not isinstance(mechanism, ThresholdBits):
            expected = f"{ThresholdBits.name!r} with {self.name}"
            raise InputError("mechanism", mechanism.name, expected)
        self.mechanism = mechanism

    @classmethod
    def can_serve(cls) -> bool:
        """Nobody should be served by it: it is there to be beaten."""
        return False

    @property
    def problem(self) -> Parametric:
        """What users see and do."""
        return self.mechanism.problem

    def plan_size(self, users: int) -> int:
        """Return how many users the next plan is for."""
        return math.ceil(max(_FIRST * self.mechanism.variance, _SHARE * users))

    def plan(self, statistics: ReturnSums, rng: np.random.Generator) -> Plan:
        """Return the best policy so far, and one around it."""
        best = self.best(statistics)
        away = self.problem.spread * rng.standard_normal(len(best))
        around = (best + away).astype(np.float32)
        asked = (Threshold(0, UNIT, (UNIT // 2,) * CELLS),)
        return tuple(Assignment(self._law(policy, rng), 0.5, asked) for policy in (best, around))

    def best_policy(self, statistics: ReturnSums, rng: np.random.Generator) -> ParametricPolicy:
        """Return the best policy so far."""
        return ParametricPolicy(self.problem, self.best(statistics).astype(np.float64))

    def best(self, statistics: ReturnSums) -> Float32Array:
        """Return the parameters of the largest mean return, over all plans that they were in."""
        users: dict[bytes, float] = {}
        above: dict[bytes, float] = {}
        for one in statistics.laws:
            key = one.law.mean.tobytes()
            users[key] = users.get(key, 0.0) + one.users
            above[key] = above.get(key, 0.0) + self._above(one)
        if not users:
            return self.problem.start
        found = max(users, key=lambda key: above[key] / max(users[key], 1.0))
        return np.frombuffer(found, dtype=np.float32)

    def _above(self, one: LawSums) -> float:
        """Return, without bias, how many had a return above their threshold."""
        mechanism = self.mechanism
        return (float(one.ones.sum()) - mechanism.flip * one.users) / mechanism.contrast

    def _law(self, parameters: Float32Array, rng: np.random.Generator) -> Perturbed:
        """Return the law of one policy: nobody's parameters are shifted."""
        still = np.zeros(self.problem.size, dtype=np.float32)
        return Perturbed(self.problem, rng.bytes(16).hex(), parameters, still)
