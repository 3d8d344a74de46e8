"""The learner that sends users where nobody comes by chance."""

import numpy as np
import pytest

from ldprl.catalogue import build
from ldprl.errors import InputError
from ldprl.learnt.share import learnt
from ldprl.shape import Shape
from ldprl.simulation.engine import simulate
from ldprl.structure import Structure
from ldprl.worlds import random_mdp
from ldprl.worlds.tabular import TabularMDP

STATES, HORIZON = 8, 12


def locked_corridor() -> TabularMDP:
    """Return a corridor of 8 states whose end pays 1 a step; a wrong step leads back to the start.

    Which of the three actions leads on differs from state to state, and staying at the start pays
    0.05: a table drawn at random gets to the end with probability 3⁻⁷, so no single action shows.
    """
    moves = np.zeros((STATES, 3, STATES))
    rewards = np.zeros((STATES, 3))
    moves[:, :, 0] = 1.0
    for state in range(STATES - 1):
        right = (2 * state + 1) % 3
        moves[state, right] = np.eye(STATES)[state + 1]
    moves[-1] = np.eye(STATES)[-1]
    rewards[-1], rewards[0, 0] = 1.0, 0.05
    initial = np.eye(STATES)[0]
    return TabularMDP(moves, rewards, HORIZON, initial, reward_kind="deterministic")


def share_learnt(name: str, users: int, seed: int) -> float:
    mdp = locked_corridor()
    mechanism = "bits-and-moves" if name == "ldp-ways" else "return-bits"
    learner, chosen = build(name, mechanism, mdp.shape, episodes=10, epsilon=2.0)
    result = simulate(mdp, learner, chosen, users, seed=seed, replan="growth:0.1")
    found = learnt(mdp, learner, result.statistics).learned[0]
    assert found is not None
    return found


def test_it_finds_what_no_single_action_leads_to(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ten seeds from 1000 on end at 100%, and at 9% with LDP-RETURNS and with the mutant."""
    assert share_learnt("ldp-ways", 40_000, 1000) > 0.99
    assert share_learnt("ldp-returns", 40_000, 1000) < 0.5
    # The mutant learns moves, and sends nobody anywhere.
    monkeypatch.setattr("ldprl.learning.ldp_ways.Destinations.drawn", lambda *_: [])
    assert share_learnt("ldp-ways", 40_000, 1000) < 0.5


def test_a_plan_is_a_function_of_the_sums_and_everybody_answers_one_question() -> None:
    mdp = locked_corridor()
    learner, mechanism = build("ldp-ways", "bits-and-moves", mdp.shape, episodes=10, epsilon=2.0)
    statistics = simulate(mdp, learner, mechanism, 20_000, seed=1, replan="growth:0.1")
    plans = [learner.plan(statistics.statistics[0], np.random.default_rng(1)) for _ in range(2)]
    for left, right in zip(*plans, strict=True):
        assert left.share == right.share
        assert left.questions[0].document() == right.questions[0].document()
        assert np.array_equal(left.chances(mdp.shape), right.chances(mdp.shape))
    assert {len(one.questions) for one in plans[0]} == {1}
    assert {one.questions[0].kind for one in plans[0]} == {"return", "transition"}
    assert sum(one.share for one in plans[0]) == pytest.approx(1)


def test_where_nothing_stands_out_few_users_report_moves() -> None:
    """In a dense world probing is hopeless: at most 2% of the users report a move."""
    mdp = random_mdp(25, 4, 10, seed=1000)
    learner, mechanism = build("ldp-ways", "bits-and-moves", mdp.shape, episodes=10, epsilon=2.0)
    statistics = simulate(mdp, learner, mechanism, 20_000, seed=1, replan="growth:0.1")
    found = statistics.statistics[0]
    assert found.asked is not None
    assert 0 < found.asked.sum() < 0.02 * 20_000
    plan = learner.plan(found, np.random.default_rng(1))
    assert all(one.questions[0].what.parameters().get("way", 1) == 1 for one in plan)


def test_it_keeps_to_admissible_actions() -> None:
    mdp = locked_corridor()
    allowed = Structure.from_document({"admissible": [[0, 1]] + [[0, 1, 2]] * 7}, mdp.shape)
    learner, mechanism = build(
        "ldp-ways", "bits-and-moves", mdp.shape, episodes=10, epsilon=2.0, structure=allowed
    )
    found = simulate(mdp, learner, mechanism, 5_000, seed=1, replan="growth:0.1").statistics[0]
    for one in learner.plan(found, np.random.default_rng(1)):
        assert one.chances(mdp.shape)[:, 0, 2].max() == 0


def test_other_mechanisms_are_refused_and_many_states_have_plain_return_bits() -> None:
    with pytest.raises(InputError, match="mechanism"):
        build("ldp-ways", "return-bits", Shape(3, 2, 2), episodes=10, epsilon=1.0)
    shape = Shape(130, 2, 3)
    learner, mechanism = build("ldp-ways", "bits-and-moves", shape, episodes=10, epsilon=1.0)
    plan = learner.plan(mechanism.no_statistics(), np.random.default_rng(0))
    assert {one.questions[0].kind for one in plan} == {"return"}
    assert learner.best_policy(mechanism.no_statistics(), np.random.default_rng(0)).shape == (
        3,
        130,
    )
