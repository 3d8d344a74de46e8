"""The mechanism that asks for a bit of the return."""

import math

import numpy as np
import pytest

from ldprl.assignment import Assignment
from ldprl.errors import InputError
from ldprl.mechanisms.by_name import build_mechanism
from ldprl.mechanisms.questions.question import Question
from ldprl.mechanisms.questions.returns import UNIT, Return
from ldprl.mechanisms.return_bits import ReturnBits
from ldprl.mechanisms.sampling import InsecureSource
from ldprl.mechanisms.trajectory import Trajectory
from ldprl.policies.tables import TableDistribution
from ldprl.shape import Shape
from ldprl.statistics import THRESHOLDS

SHAPE = Shape(4, 3, 2)
ASKED = Assignment(
    np.zeros((2, 4), dtype=np.int64), 1.0, (Question(Return(0, 2 * UNIT), 0, np.ones(4)),)
)


@pytest.mark.parametrize("epsilon", [0.01, 1.0, 2.0, 20.0])
def test_a_report_is_one_bit_and_exactly_epsilon_private(epsilon: float) -> None:
    mechanism = ReturnBits(SHAPE, epsilon)
    oracle = mechanism.oracle_for(2)
    # p/(1 − p) in exact numbers: never above e^ε, and only by rounding below.
    assert oracle.epsilon <= epsilon
    assert oracle.epsilon == pytest.approx(epsilon, rel=1e-9)
    assert mechanism.guarantee.epsilon == epsilon
    assert mechanism.guarantee.delta == 0
    codec = mechanism.codec(ASKED)
    episode = Trajectory([0, 1], [0, 0], [1.0, 1.0])
    report = mechanism.privatize(episode, ASKED, InsecureSource(0))
    assert codec.write(report) in ([0], [1])


def test_likelihoods_are_those_of_the_reports() -> None:
    """A z-test at 6 standard deviations; the other trajectory's likelihood is the mutant."""
    mechanism = ReturnBits(SHAPE, 1.0)
    episodes = {
        0.5: Trajectory([0, 1], [0, 0], [1.0, 0.0]),
        1.0: Trajectory([0, 1], [0, 0], [1.0, 1.0]),
        0.0: Trajectory([0, 1], [0, 0], [0.0, 0.0]),
    }
    astray = Trajectory([0, 1], [0, 1], [1.0, 1.0])
    count = 4000
    chances = {}
    for episode in (*episodes.values(), astray):
        drawn = mechanism.privatize_many(episode, ASKED, count, InsecureSource(1))
        ones = float(np.array(drawn)[:, 1].sum())
        likelihood = mechanism.log_likelihood(np.array([[0, 1]]), episode, ASKED)
        assert likelihood is not None
        chance = float(np.exp(likelihood[0]))
        assert abs(ones - count * chance) < 6 * np.sqrt(count * chance * (1 - chance))
        chances[id(episode)] = chance
    half, one, none = (chances[id(episode)] for episode in episodes.values())
    assert half == chances[id(astray)] == pytest.approx(0.5)
    assert one / none == pytest.approx(math.e)
    assert count * (one - half) > 6 * np.sqrt(count / 4)


def test_the_profile_is_that_of_randomized_response() -> None:
    profile = ReturnBits(SHAPE, 1.0).privacy_profile()
    p = math.e / (math.e + 1)
    for epsilon in (0.0, 0.5, 0.9):
        exact = p - math.exp(epsilon) * (1 - p)
        assert profile.delta(epsilon) == pytest.approx(exact, rel=1e-6)


def test_decoding_one_table_shows_where_returns_lie() -> None:
    mechanism = ReturnBits(SHAPE, 2.0)
    oracle = mechanism.oracle_for(2)
    users = 1000
    ones = users * (1 - float(oracle.keep) + oracle.contrast * 0.25)
    effects = mechanism.decode(np.array([users - ones, ones]), users, ASKED).effects
    assert effects is not None
    assert effects.thresholds.shape == (2, THRESHOLDS)
    assert not effects.scores.any()
    assert effects.thresholds[0].sum() * SHAPE.horizon / THRESHOLDS == pytest.approx(users)
    assert (effects.thresholds[1] / effects.thresholds[0]) == pytest.approx(0.25)


def test_sums_add_up() -> None:
    mechanism = ReturnBits(SHAPE, 2.0)
    one = mechanism.decode(np.array([30, 70]), 100, ASKED)
    both = one + one + mechanism.no_statistics()
    assert both.users == 200
    assert both.effects is not None
    assert one.effects is not None
    assert np.allclose(both.effects.thresholds, 2 * one.effects.thresholds)


def test_other_questions_and_settings_are_refused() -> None:
    mechanism = ReturnBits(SHAPE, 2.0)
    with pytest.raises(InputError, match="questions"):
        mechanism.oracle_for(3)
    with pytest.raises(InputError, match="mechanism"):
        _ = mechanism.error_laws
    with pytest.raises(InputError, match="constants"):
        build_mechanism("return-bits", SHAPE, 1.0, constants="paper")
    with pytest.raises(InputError, match="epsilon"):
        ReturnBits(SHAPE, 0.0)


def test_answers_that_do_not_depend_on_the_action_show_no_effect() -> None:
    """Also where the service took them to be rarer, or more frequent, than they are."""
    shape = Shape(2, 3, 2)
    mechanism = ReturnBits(shape, 1.0)
    law = TableDistribution.of(shape, np.array([[[0.5, 0.25, 0.25]] * 2]), "0" * 32)
    for expected in (UNIT // 4, UNIT // 2, 3 * UNIT // 4):
        what = Return(0, 2 * UNIT, expected)
        assignment = Assignment(law, questions=(Question(what, 0, np.ones(2)),))
        reports = np.tile([400.0, 200.0, 200.0], 2)
        answers = np.outer(reports, [0.4, 0.6]).ravel()
        tally = np.concatenate([answers, reports])
        effects = mechanism.decode(tally, 800, assignment).effects
        assert effects is not None
        assert np.allclose(effects.scores, 0, atol=1e-9)
