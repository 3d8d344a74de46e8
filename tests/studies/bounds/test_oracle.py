"""The oracle between the lower bound and a learner."""

from __future__ import annotations

import math

import pytest

from ldprl.bounds.alternatives import Instance
from ldprl.bounds.instance import instance_lower_bound
from ldprl.learning.confidence import boundary, mixture_rates
from ldprl.learning.ldp_evi import LDPEVI
from ldprl.mechanisms.subset_selection import SubsetSelection
from ldprl.worlds.families import random_mdp
from studies.bounds.oracle import oracle_of
from tests.bounds.worlds import bandit


def test_a_bandit_by_hand() -> None:
    """Δ·n, where n users make the boundary of their sum as large as n·Δ; questions 2V/Δ."""
    instance = Instance(bandit(0.5, 0.4))
    bound = instance_lower_bound(instance, 1.0)
    mechanism = SubsetSelection(instance.mdp.shape, 1.0)
    oracle = oracle_of(instance, bound.binding, mechanism, 0.1)
    law = mechanism.row_laws.rewards
    variance = law.inside[0] + law.inside[1] * 0.4 + law.inside[2] * 0.16
    assert oracle.questions == pytest.approx(2 * variance / 0.1, rel=1e-4)
    users = oracle.regret / 0.1
    threshold = LDPEVI(mechanism).log_threshold
    reach = max(law.up[0], law.down[0])
    edge = boundary(users * variance, reach, 0.0, threshold, mixture_rates(law))
    assert edge == pytest.approx(users * 0.1, rel=1e-3)


def test_our_questions_tell_less_than_the_best_channel() -> None:
    """Where changes are small, d²o/(2V) is at most the information of any channel."""
    for epsilon in (0.5, 1.0):
        for mdp in (bandit(0.5, 0.4), random_mdp(2, 2, 2, 1000), random_mdp(10, 3, 5, 1000)):
            instance = Instance(mdp)
            bound = instance_lower_bound(instance, epsilon)
            oracle = oracle_of(instance, bound.binding, SubsetSelection(mdp.shape, epsilon), 0.1)
            assert oracle.questions >= bound.constant
            assert math.isfinite(oracle.regret)


def test_a_smaller_failure_probability_costs_the_oracle_more() -> None:
    instance = Instance(bandit(0.9, 0.7))
    bound = instance_lower_bound(instance, 1.0)
    mechanism = SubsetSelection(instance.mdp.shape, 1.0)
    loose, strict = (oracle_of(instance, bound.binding, mechanism, p) for p in (0.1, 1e-6))
    assert strict.regret > 1.5 * loose.regret
    assert strict.questions == loose.questions
