"""How many users may explore: by hand in simple cases, and in whole simulations."""

from __future__ import annotations

import numpy as np
import pytest

from ldprl.catalogue import build
from ldprl.certificates import Scale, Terms
from ldprl.certificates.caution import Served, exploring_share
from ldprl.mdp.evaluation import optimum
from ldprl.mdp.families import random_mdp
from ldprl.questions.worth import Worth
from ldprl.simulation.certified import certified_run
from ldprl.simulation.schedule import Growth

NOBODY = Served(0, [], 0.0)


def test_before_anything_is_known_a_share_explores_that_may_lose_all() -> None:
    """5% of 10⁶ users may earn nothing; a few less explore, as they are drawn."""
    share = exploring_share(0.05, NOBODY, 0.0, (0.0, 3.0), 10**6)
    assert 0.0488 < share < 0.05
    assert share * 10**6 + 5 * np.sqrt(share * 10**6) == pytest.approx(50_000)


def test_nobody_explores_while_one_user_would_be_too_many() -> None:
    assert exploring_share(0.05, NOBODY, 0.0, (0.0, 3.0), 19) == 0
    assert exploring_share(0.05, NOBODY, 0.0, (0.0, 3.0), 20) > 0


def test_what_was_not_spent_may_be_spent_later_and_what_was_overspent_is_made_up_for() -> None:
    saved = Served(10**6, [(10**6, 0.0)], 0.0)
    assert exploring_share(0.05, saved, 0.0, (1.0, 2.0), 10**5) > 0.5
    spent = Served(10**6, [(9 * 10**5, 0.0)], 0.0)
    assert exploring_share(0.05, spent, 0.0, (1.0, 2.0), 10**5) == 0


def test_those_who_explored_count_for_what_they_earned() -> None:
    """200,000 users earned 0.8 of the incumbent's 2: 4% of all is lost, 1% is left to lose."""
    served = Served(10**6, [(8 * 10**5, 0.0)], 1.6)
    share = exploring_share(0.05, served, 0.0, (2.0, 2.0), 10**5)
    assert share * 10**5 + 5 * np.sqrt(share * 10**5) == pytest.approx(15_000)


def test_a_policy_that_is_certainly_better_pays_for_exploring() -> None:
    served = Served(10**6, [(10**6, 1.0)], 0.0)
    assert exploring_share(0.05, served, 1.0, (1.0, 1.0), 10**5) == 1


def lost_at_worst(most_lost: float | None, seed: int) -> float:
    """Return the largest share of the best policy's return that users had lost at any time."""
    world = random_mdp(5, 3, 4, seed=2)
    best = optimum(world)
    value = float(world.initial @ best.values[0])
    learner, mechanism = build("ldp-evi", "subset-selection", world.shape, episodes=1, epsilon=4.0)
    scale = Scale(float(mechanism.oracle(Worth()).keep), 4)  # type: ignore[attr-defined]
    terms = Terms(0.2, 0.95, scale, best.policy, most_lost)
    growth = Growth(0.5)
    return max(
        state.recorder.total / (state.users * value)
        for state in certified_run(world, learner, mechanism, terms, 5000, seed, replan=growth)
    )


def test_users_lose_no_more_than_is_allowed_at_any_time() -> None:
    """In at least two of three runs with the best policy as the incumbent, where all is to lose.

    Mutant: without the limit, the first users lose more than twice as much in each run.
    """
    assert sum(lost_at_worst(0.1, seed) > 0.1 for seed in range(3)) <= 1
    assert all(lost_at_worst(None, seed) > 0.2 for seed in range(3))
