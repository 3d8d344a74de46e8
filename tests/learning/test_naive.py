"""The naive learners: who tries what, and what is believed."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from ldprl import (
    InputError,
    Laplace,
    Learner,
    NoPrivacy,
    Shape,
    Statistics,
    random_mdp,
    simulate,
)
from ldprl.assignment import check_plan
from ldprl.learning.naive import EpsilonGreedy, ExploreThenCommit
from ldprl.learning.planning import plan as best_of
from ldprl.mechanisms.threshold_bits import ThresholdBits
from ldprl.policies.linear import Linear
from ldprl.worlds.evaluation import worth

SHAPE = Shape(3, 2, 4)
RNG = np.random.default_rng


def sums(seed: int, users: int = 1000, step_dependent: bool = False) -> Statistics:
    """Return noisy sums, some of them below zero."""
    shape, rng = Shape(3, 2, 4, step_dependent), RNG(seed)
    cells = (shape.models, 3, 2)
    moves = (shape.transition_models, 3, 2, 3)
    return Statistics(
        shape=shape,
        users=users,
        rewards=rng.normal(20, 30, cells),
        visits=rng.normal(50, 40, cells),
        transitions=rng.normal(10, 20, moves),
        reports=np.full(cells, users),
    )


@pytest.mark.parametrize("step_dependent", [False, True])
@pytest.mark.parametrize("seed", range(5))
def test_the_policy_is_the_best_of_the_clipped_model(seed: int, step_dependent: bool) -> None:
    """A slow oracle: the model in numpy."""
    found = sums(seed, step_dependent=step_dependent)
    means = np.clip(found.rewards / np.maximum(found.visits, 1), 0, 1)
    counts = np.maximum(found.transitions, 0)
    total = counts.sum(axis=-1, keepdims=True)
    moves = np.where(total > 0, counts / np.where(total > 0, total, 1), 1 / 3)
    learner = EpsilonGreedy(NoPrivacy(found.shape))
    expected = best_of(found.shape, means, moves)
    np.testing.assert_array_equal(learner.best_policy(found, RNG(0)), expected)
    first, *_ = learner.plan(found, RNG(0))
    np.testing.assert_array_equal(first.table, expected)


def test_a_tenth_tries_every_action_everywhere() -> None:
    mechanism = Laplace(SHAPE, 1.0)
    plan = check_plan(EpsilonGreedy(mechanism).plan(sums(0), RNG(0)), SHAPE)
    assert [one.share for one in plan] == pytest.approx([0.9, 0.05, 0.05])
    tried = np.sort([one.table for one in plan[1:]], axis=0)
    np.testing.assert_array_equal(tried[0], 0)
    np.testing.assert_array_equal(tried[1], 1)
    again = EpsilonGreedy(mechanism).plan(sums(0), RNG(1))
    assert (again[1].table != plan[1].table).any()


def test_committing_comes_after_exploring() -> None:
    learner = ExploreThenCommit(Laplace(SHAPE, 1.0), episodes=10**6)
    assert learner.explorers == pytest.approx(6 ** (1 / 3) * 10**4, abs=1)
    early = learner.plan(sums(0, learner.explorers), RNG(0))
    late = learner.plan(sums(0, learner.explorers + 1), RNG(0))
    assert sum(one.share for one in early if one.share) == pytest.approx(1)
    assert early[0].share == 0
    assert [one.share for one in late] == [1]
    assert ExploreThenCommit(Laplace(SHAPE, 1.0), episodes=4).explorers == 2


def test_nobody_is_served_by_them_and_they_need_counters() -> None:
    for kind in (EpsilonGreedy, ExploreThenCommit):
        assert not kind.can_serve()
    problem = Linear(features=["x"], actions=["a", "b"], horizon=2, returns=(0, 1))
    with pytest.raises(InputError):
        ExploreThenCommit(ThresholdBits(problem, 1.0), 100)
    with pytest.raises(InputError):
        ExploreThenCommit(Laplace(SHAPE, 1.0), 0)


@pytest.mark.parametrize("privacy", ["none", "laplace"])
def test_they_learn_and_pay_for_it(privacy: str) -> None:
    """Regret of ε-greedy grows in proportion to users, that of explore-then-commit with K^⅔."""
    mdp, users = random_mdp(2, 2, 2, seed=3), 10**6
    mechanism: Any = NoPrivacy(mdp.shape) if privacy == "none" else Laplace(mdp.shape, 4.0)

    def regret(learner: Learner) -> float:
        return float(simulate(mdp, learner, mechanism, users, 3, 1, "growth:0.1").regret.mean())

    commit = ExploreThenCommit(mechanism, users)
    at_random = worth(mdp)  # what somebody loses who acts at random
    assert regret(EpsilonGreedy(mechanism)) == pytest.approx(0.1 * users * at_random, rel=0.1)
    assert regret(commit) == pytest.approx(commit.explorers * at_random, rel=0.2)
