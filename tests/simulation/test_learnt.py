"""Shares of the gap between random and best."""

import numpy as np
import pytest

from ldprl.assignment import Assignment, Plan
from ldprl.learning.learner import Learner
from ldprl.mdp import random_mdp
from ldprl.mdp.evaluation import optimum
from ldprl.shape import Policy
from ldprl.simulation.learnt import learnt
from ldprl.statistics import Statistics


class _Fixed(Learner):
    """Hands out a policy, and another one to a few."""

    def __init__(self, policy: Policy) -> None:
        self.policy = policy

    def plan(self, statistics: Statistics, rng: np.random.Generator) -> Plan:
        return Assignment(np.zeros_like(self.policy), 0.1), Assignment(self.policy, 0.9)


def test_the_best_policy_closes_the_gap_and_policies_on_average_close_none_of_it() -> None:
    mdp = random_mdp(3, 2, 1, seed=4)
    sums = [Statistics.empty(mdp.shape)]
    found = learnt(mdp, _Fixed(optimum(mdp).policy), sums)
    assert found.learned == [pytest.approx(1)]
    assert found.final_value == [pytest.approx(found.best_value)]
    # At horizon 1 acting at random is worth the mean over all policies.
    tables = np.stack(np.meshgrid(*[[0, 1]] * 3), axis=-1).reshape(-1, 1, 3)
    shares = [learnt(mdp, _Fixed(table), sums).learned[0] for table in tables]
    assert sum(share for share in shares if share is not None) == pytest.approx(0, abs=1e-9)
