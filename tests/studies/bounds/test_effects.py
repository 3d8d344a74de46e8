"""What distinguishing actions by return bits costs, against cases that are known in closed form."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from ldprl import TabularMDP
from ldprl.bounds import instance_lower_bound
from ldprl.mechanisms.return_bits import ReturnBits
from ldprl.structure import Structure
from studies.bounds.effects import effects_price

USERS = 10**6


def _bandit(*means: float) -> TabularMDP:
    rewards = np.array([means])
    return TabularMDP(np.ones((1, len(means), 1)), rewards, 1, reward_kind="bernoulli")


@pytest.mark.parametrize("epsilon", [0.5, 1.0, 2.0])
def test_a_bandit_costs_about_its_lower_bound(epsilon: float) -> None:
    world = _bandit(0.9, 0.7)
    found = effects_price(world, epsilon, USERS)
    # The range leaves out a few percent of [0, 1].
    whole = float(ReturnBits(world.shape, epsilon).spread(0.9))
    assert 0.95 * whole < found.spread <= whole
    assert found.distinguishing == pytest.approx(2 * found.spread**2 * math.log(USERS) / 0.2)
    # The bound has the divergence of the two laws of an answer not the variance at the best.
    least = instance_lower_bound(world, epsilon).at(USERS)
    assert found.regret == pytest.approx(least, rel=0.25)
    assert (found.sameness, found.undecided) == (0, 0)


def test_what_k_users_cannot_tell_costs_what_it_loses() -> None:
    found = effects_price(_bandit(0.5, 0.4999), 1.0, USERS)
    assert found.distinguishing == pytest.approx(USERS * 0.0001)
    assert found.undecided == 1


def test_one_action_for_all_steps_costs_where_the_best_depends_on_the_step() -> None:
    # Action 0 leads to a state that pays 1 with chance 1/2; action 1 pays 0.2 at once, and is best
    # at the last step. Tables play 0, which loses 0.2 for the half that is still in state 0 then.
    moves = np.array([[[0.5, 0.5], [1, 0]], [[0, 1], [0, 1]]])
    world = TabularMDP(moves, np.array([[0, 0.2], [1, 1]]), 2, np.array([1.0, 0.0]))
    found = effects_price(world, 2.0, USERS)
    assert found.sameness == pytest.approx(USERS * 0.1)
    assert found.distinguishing == pytest.approx(2 * found.spread**2 * math.log(USERS) / 0.1)


def test_actions_that_are_not_admissible_cost_nothing() -> None:
    world = _bandit(0.9, 0.7, 0.2)
    known = Structure.from_document({"admissible": [[0, 1]]}, world.shape)
    fewer = effects_price(replace(world, structure=known), 2.0, USERS)
    two, three = effects_price(_bandit(0.9, 0.7), 2.0, USERS), effects_price(world, 2.0, USERS)
    assert fewer.distinguishing == pytest.approx(two.distinguishing)
    assert three.distinguishing == pytest.approx(two.distinguishing * (1 + 0.2 / 0.7))
