"""Algorithm 1, one user at a time."""

from __future__ import annotations

import numpy as np
import pytest

from ldprl.errors import InputError
from ldprl.learning.ldp_obi import LDPOBI
from ldprl.learning.psrl import PSRL
from ldprl.mechanisms.none import NoPrivacy
from ldprl.mechanisms.shuffle import Shuffle
from ldprl.shape import Shape
from ldprl.simulation.reference import episode, run_protocol
from ldprl.worlds import TabularMDP
from tests.simulation.stubs import Watched

SHAPE = Shape(2, 2, 2)
USERS = 4


def problem() -> TabularMDP:
    rng = np.random.default_rng(8)
    transitions = rng.dirichlet(np.ones(2), (2, 2))
    return TabularMDP(transitions, rng.random((2, 2)), 2, np.array([0.8, 0.2]), "bernoulli")


def test_a_life_follows_the_policy() -> None:
    mdp, rng = problem(), np.random.default_rng(0)
    policy = np.array([[0, 1], [1, 0]])
    for _ in range(100):
        trajectory = episode(mdp, policy, rng)
        trajectory.check(mdp.shape)
        assert [
            policy[step, state] for step, state in enumerate(trajectory.states)
        ] == trajectory.actions
        assert set(trajectory.rewards) <= {0.0, 1.0}


def test_impossible_moves_and_fixed_rewards() -> None:
    mdp = TabularMDP(
        np.array([[[0.0, 1.0]], [[1.0, 0.0]]]), np.array([[0.25], [0.75]]), 4, np.array([1.0, 0.0])
    )
    trajectory = episode(mdp, np.zeros((4, 2), dtype=np.int64), np.random.default_rng(0))
    assert trajectory.states == [0, 1, 0, 1]
    assert trajectory.rewards == [0.25, 0.75, 0.25, 0.75]


def test_each_user_is_planned_for_from_the_reports_before() -> None:
    mechanism = Shuffle(SHAPE, 1.0)
    watched = Watched(LDPOBI(mechanism))
    episodes = list(run_protocol(problem(), watched, mechanism, USERS, seed=1))
    assert [sums.users for sums in watched.seen] == list(range(USERS))
    assert [episode.statistics.users for episode in episodes] == list(range(1, USERS + 1))
    tally = np.sum([episode.report for episode in episodes], axis=0)
    every = Shuffle(SHAPE, 1.0, policy_aware=False)
    decoded = every.decode(tally, USERS, episodes[-1].assignment)
    cells = episodes[-1].statistics.reports == USERS
    np.testing.assert_allclose(episodes[-1].statistics.visits[cells], decoded.visits[cells])


def test_protocol_is_reproducible() -> None:
    mechanism = Shuffle(SHAPE, 1.0)

    def reports(seed: int) -> list[list[int]]:
        run = run_protocol(problem(), LDPOBI(mechanism), mechanism, 20, seed)
        return [episode.report.tolist() for episode in run]

    assert reports(3) == reports(3)
    assert reports(3) != reports(4)


def test_bad_input_is_refused() -> None:
    fits, other = NoPrivacy(SHAPE), NoPrivacy(Shape(3, 2, 2))
    with pytest.raises(InputError, match="episodes"):
        next(run_protocol(problem(), PSRL(), fits, 0))
    with pytest.raises(InputError, match=r"mechanism\.problem"):
        next(run_protocol(problem(), PSRL(), other, 1))


def test_a_schedule_that_serves_nobody_is_refused() -> None:
    with pytest.raises(InputError, match="replan"):
        next(run_protocol(problem(), PSRL(), NoPrivacy(SHAPE), 3, replan=lambda users: 0))
