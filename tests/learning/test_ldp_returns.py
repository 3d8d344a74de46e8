"""The learner of return bits: its law of actions, its plans, and that it learns."""

import math

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import norm

from ldprl.catalogue import build
from ldprl.errors import InputError
from ldprl.learning.ldp_returns import preferences
from ldprl.mdp import random_mdp
from ldprl.mdp.evaluation import optimum, policy_values
from ldprl.shape import Shape
from ldprl.simulation.engine import simulate
from ldprl.statistics import THRESHOLDS, Effects, Statistics
from ldprl.structure import Structure


def _effects(scores: list[list[float]], users: float) -> Effects:
    states, actions = len(scores), len(scores[0])
    even = np.eye(actions) / actions - 1 / actions**2
    information = np.tile(users * even, (states, 1, 1))
    return Effects(np.array(scores), information, np.zeros((2, 512)))


@pytest.mark.parametrize("lead", [0.0, 0.3, 1.0, 3.0, 4.9, 5.1, 8.0])
def test_odds_are_expected_gain_over_expected_loss(lead: float) -> None:
    effects = _effects([[lead, -lead]] * 40, 100.0)
    odds, leading = preferences(effects)
    # The belief of the difference, by hand: information 100·(¼, −¼; −¼, ¼), prior τ² as stated.
    own, squared = 25.0, 40 * 4 * 25.0**2
    prior = max(80 * (lead**2 - own), np.sqrt(80 * 2 * own**2)) / squared
    precision = 50 + 1 / prior
    mean, spread = 2 * lead / precision, np.sqrt(2 / precision)
    gain = quad(lambda x: x * norm.pdf(-x, mean, spread), 0, 40 * spread)[0]
    loss = quad(lambda x: x * norm.pdf(x, mean, spread), 0, mean + 40 * spread)[0]
    assert odds[0, 1] / odds[0, 0] == pytest.approx(gain / loss, rel=0.02)
    assert np.all(leading == 0)
    assert odds.sum(axis=1) == pytest.approx(1)


def test_nothing_known_is_nothing_preferred() -> None:
    odds, _ = preferences(Effects.empty(Shape(3, 4, 2)))
    assert np.allclose(odds, 0.25)


def test_a_plan_is_a_function_of_the_sums() -> None:
    mdp = random_mdp(5, 3, 4, seed=1)
    learner, mechanism = build("ldp-returns", "return-bits", mdp.shape, episodes=10, epsilon=2.0)
    statistics = simulate(mdp, learner, mechanism, 2000, seed=3).statistics[0]
    again, _ = build("ldp-returns", "return-bits", mdp.shape, episodes=10, epsilon=2.0)
    plans = [one.plan(statistics, np.random.default_rng(1)) for one in (learner, again)]
    for left, right in zip(*plans, strict=True):
        assert left.share == right.share
        assert left.questions[0].document() == right.questions[0].document()
        assert np.array_equal(left.chances(mdp.shape), right.chances(mdp.shape))
    assert sum(one.share for one in plans[0]) == pytest.approx(1)


def test_it_closes_the_gap_where_models_need_far_more_users() -> None:
    mdp = random_mdp(25, 4, 10, seed=1000)
    learner, mechanism = build("ldp-returns", "return-bits", mdp.shape, episodes=10, epsilon=2.0)
    result = simulate(mdp, learner, mechanism, 100_000, seed=1000, replan="growth:0.1")
    best = float(mdp.initial @ optimum(mdp).values[0])
    final = learner.best_policy(result.statistics[0], np.random.default_rng(0))
    value = float(mdp.initial @ policy_values(mdp, final)[0])
    # A policy drawn at random loses 4.8 and 10⁵ users of it 4.8·10⁵; this seed gives 0.02, 1.7·10⁴.
    assert best - value < 0.2
    assert result.regret[0] < 40_000


def test_other_mechanisms_and_sums_are_refused() -> None:
    shape = Shape(2, 2, 2)
    for learner, mechanism in (("ldp-returns", "laplace"), ("ldp-evi", "return-bits")):
        with pytest.raises(InputError, match="mechanism"):
            build(learner, mechanism, shape, episodes=10, epsilon=1.0)
    agent, _ = build("ldp-returns", "return-bits", shape, episodes=10, epsilon=1.0)
    with pytest.raises(InputError, match="statistics"):
        agent.plan(Statistics.empty(shape), np.random.default_rng(0))


def test_other_actions_than_the_admissible_are_never_drawn() -> None:
    known = Structure.from_document({"admissible": [[0, 2], [1], [0, 1, 2, 3]]}, Shape(3, 4, 2))
    rng = np.random.default_rng(0)
    for users in (0, 10**4):
        information = users * np.tile(np.eye(4) / 4 - 1 / 16, (3, 1, 1))
        # The others look best.
        scores = rng.normal(size=(3, 4)) * math.sqrt(users) + 100 * users * ~known.choices
        effects = Effects(scores, information, np.zeros((2, THRESHOLDS)))
        odds, lead = preferences(effects, known)
        assert np.all(odds[~known.choices] == 0)
        np.testing.assert_allclose(odds.sum(axis=1), 1)
        assert known.choices[np.arange(3), lead].all()


def test_an_incumbent_leads_until_reports_speak_against_it() -> None:
    shape = Shape(2, 3, 2)
    known = Structure.from_document({"incumbent": [2, 1]}, shape)
    odds, lead = preferences(Effects.empty(shape), known)
    assert lead.tolist() == [2, 1]
    assert 0.5 < odds[0, 2] < 0.9
    information = 1e4 * np.tile(np.eye(3) / 3 - 1 / 9, (2, 1, 1))
    scores = np.tile([1000.0, -500.0, -500.0], (2, 1))
    _, lead = preferences(Effects(scores, information, np.zeros((2, THRESHOLDS))), known)
    assert lead.tolist() == [0, 0]


def test_states_of_a_group_learn_from_each_other() -> None:
    """An effect too small to be seen in one state is seen in a hundred of a group."""
    shape = Shape(100, 2, 1)
    known = Structure.from_document({"groups": [0] * 50 + [1] * 50}, shape)
    rng = np.random.default_rng(1)
    information = 100 * np.tile(np.eye(2) / 2 - 1 / 4, (100, 1, 1))
    better = np.repeat([0, 1], 50)
    push = np.where(np.arange(2) == better[:, None], 1.0, -1.0)
    scores = 0.5 * 5 * push + rng.normal(size=(100, 1)) * 5 * np.array([1.0, -1.0])
    effects = Effects(scores, information, np.zeros((2, THRESHOLDS)))
    alone, together = (preferences(effects, one)[1] for one in (None, known))
    assert np.mean(alone == better) < 0.8
    assert np.mean(together == better) > np.mean(alone == better) + 0.1
