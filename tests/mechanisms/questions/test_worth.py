"""The bit of the worth: its law, and that everybody counts who was given the policy."""

from __future__ import annotations

import numpy as np
import pytest

from ldprl.mechanisms.questions.question import Question
from ldprl.mechanisms.questions.worth import Worth
from ldprl.mechanisms.sampling import InsecureSource
from ldprl.mechanisms.subset_selection import SubsetSelection
from ldprl.mechanisms.trajectory import Trajectory
from ldprl.simulation.world import draw_true_counts
from tests.mechanisms.questions.worlds import POLICY, SHAPE, episodes, world

ASKED = Question(Worth(), 0, np.ones(SHAPE.states))


def test_the_law_is_the_mean_return_of_all_lives() -> None:
    mean = sum(
        chance * float(np.mean(episode.rewards)) for chance, episode in episodes(world(), POLICY)
    )
    np.testing.assert_allclose(ASKED.law(world(), POLICY), [1 - mean, mean], atol=1e-14)


@pytest.mark.parametrize("rewards", [(1.0, 0.0, 0.0), (0.25, 0.5, 0.0), (1.0, 1.0, 1.0), (0, 0, 0)])
def test_the_bit_has_the_mean_of_the_rewards_whether_or_not_the_policy_was_followed(
    rewards: tuple[float, ...],
) -> None:
    """Within 5.5 standard errors of 4,000 draws; type-I error below 1e-6 in all cases together."""
    source, draws = InsecureSource(3), 4000
    actions = [1 - int(POLICY[h, 0]) for h in range(3)]
    episode = Trajectory((0, 0, 0), actions, rewards)
    ones = sum(ASKED.item(SHAPE, POLICY, episode, source) for _ in range(draws))
    mean = float(np.mean(rewards))
    assert abs(ones - draws * mean) <= 5.5 * np.sqrt(draws * mean * (1 - mean))


def test_who_stopped_early_counts_as_nothing() -> None:
    source = InsecureSource(0)
    held = {ASKED.item(SHAPE, POLICY, Trajectory.empty(), source) for _ in range(50)}
    assert held == {0}


def test_the_learner_hears_nothing_of_it_but_that_there_was_a_user() -> None:
    mechanism, rng = SubsetSelection(SHAPE, 2.0, answers=1).with_worth(), np.random.default_rng(0)
    from ldprl.certificates.evidence import certifying

    assignment = certifying(POLICY, 1.0)
    totals = draw_true_counts(world(), POLICY, 1000, 1, rng)
    tally = mechanism.sample_tally(totals, assignment, rng)
    found = mechanism.decode(tally, 1000, assignment)
    assert (tally.sum(), found.users) == (1000, 1000)
    for name in ("rewards", "visits", "transitions", "reports", "arrivals"):
        assert not getattr(found, name).any()
