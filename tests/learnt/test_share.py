"""Shares of the gap between random and best."""

import numpy as np
import pytest

from ldprl.assignment import Assignment, Plan
from ldprl.learning.learner import Learner
from ldprl.learnt.share import above_luck, learnt
from ldprl.shape import Policy
from ldprl.statistics import Statistics
from ldprl.worlds import grid_world, random_mdp
from ldprl.worlds.evaluation import optimum


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


def test_what_a_table_at_random_closes_is_luck() -> None:
    mdp = random_mdp(3, 2, 1, seed=4)
    sums = [Statistics.empty(mdp.shape)]
    found = learnt(mdp, _Fixed(optimum(mdp).policy), sums)
    # At horizon 1 the eight tables can be counted: the shares of their states are independent.
    assert found.luck == pytest.approx(1, rel=0.3)
    assert above_luck([0.11] * 4, 0.1)
    assert not above_luck([0.09] * 4, 0.1)
    assert above_luck([0.51], 10.0)
    assert not above_luck([], 0.0)


def test_users_are_asked_for_where_nothing_is_learnt_privately() -> None:
    mdp = grid_world(3, 3, 8)
    sums = [Statistics.empty(mdp.shape)]
    staying = _Fixed(np.zeros((8, 9), dtype=np.int64))
    less, more = (learnt(mdp, staying, sums, epsilon).users_needed for epsilon in (2.0, 1.0))
    assert less is not None
    assert more is not None
    assert 10 < less < more
    assert learnt(mdp, staying, sums).users_needed is None
    assert learnt(mdp, _Fixed(optimum(mdp).policy), sums, 2.0).users_needed is None
