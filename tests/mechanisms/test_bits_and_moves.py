"""The mechanism that asks for a bit of the return, or for a move."""

import json
import math

import numpy as np
import pytest

from ldprl.assignment import Assignment
from ldprl.mechanisms.bits_and_moves import BitsAndMoves
from ldprl.mechanisms.questions.question import Question
from ldprl.mechanisms.questions.returns import UNIT, Return
from ldprl.mechanisms.questions.transition import Transition
from ldprl.mechanisms.sampling import InsecureSource
from ldprl.mechanisms.trajectory import Trajectory
from ldprl.shape import Shape

SHAPE = Shape(4, 3, 3)
POLICY = np.zeros((3, 4), dtype=np.int64)
LIFE = Trajectory([0, 1, 2], [0, 0, 0], [1.0, 0.0, 1.0])


def asked_about(what: Return | Transition, step: int = 0) -> Assignment:
    return Assignment(POLICY, 1.0, (Question(what, step, np.ones(4)),))


@pytest.mark.parametrize("epsilon", [0.01, 1.0, 2.0, 8.0])
def test_both_answers_are_exactly_epsilon_private(epsilon: float) -> None:
    mechanism = BitsAndMoves(SHAPE, epsilon)
    for items in (2, 4**2 + 1):
        oracle = mechanism.oracle_for(items)
        assert oracle.epsilon <= epsilon
        assert oracle.epsilon == pytest.approx(epsilon, rel=1e-9)
    assert mechanism.guarantee.epsilon == epsilon
    assert mechanism.guarantee.delta == 0
    assert len(mechanism.blankets()) == 2


def test_no_report_is_above_4_kb() -> None:
    """128 states, and an ε at which the best report would name half of the pairs."""
    mechanism = BitsAndMoves(Shape(128, 2, 4), 0.1)
    policy = np.zeros((4, 128), dtype=np.int64)
    asked = Assignment(policy, 1.0, (Question(Transition(), 0, np.ones(128)),))
    longest = mechanism.codec(asked).longest()
    assert len(json.dumps(longest)) < 3800
    # Without the limit it would be far longer.
    assert mechanism.oracle_for(128**2 + 1).size < 128**2 / (math.exp(0.1) + 1) / 10


@pytest.mark.parametrize(
    "shape", [Shape(129, 2, 4), Shape(1, 2, 4), Shape(4, 2, 1), Shape(4, 2, 3, step_dependent=True)]
)
def test_elsewhere_it_asks_for_bits_alone(shape: Shape) -> None:
    mechanism = BitsAndMoves(shape, 1.0)
    assert [what.kind for what in mechanism.observables] == ["return"]
    assert "possible answers" not in mechanism.in_plain_words
    assert mechanism.no_statistics().transitions.size == 0


def test_the_statement_says_what_a_move_tells() -> None:
    oracle = BitsAndMoves(SHAPE, 1.0).oracle_for(17)
    words = BitsAndMoves(SHAPE, 1.0).in_plain_words
    assert f"{oracle.size} of all 17 possible answers" in words


def test_moves_are_decoded_without_bias() -> None:
    """A z-test at 6 standard deviations, type-I error 3·10⁻⁸; the mutant is another move."""
    mechanism, users = BitsAndMoves(SHAPE, 2.0), 4000
    asked = asked_about(Transition(), 1)
    reports = np.array(mechanism.privatize_many(LIFE, asked, users, InsecureSource(3)))
    found = mechanism.decode(reports.sum(axis=0), users, asked)
    error = 6 * math.sqrt(users * mechanism.move_variance)
    counts = found.transitions[0, :, 0]
    assert abs(counts[1, 2] - users) < error
    assert np.abs(np.delete(counts.ravel(), 1 * 4 + 2)).max() < error
    assert abs(counts[2, 1] - users) > 2 * error
    assert found.asked is not None
    assert found.asked.tolist() == [0, users, 0]
    assert found.transition_reports is not None
    assert found.transition_reports[0, :, 0].tolist() == [users] * 4


def test_likelihoods_of_moves_are_those_of_the_reports() -> None:
    mechanism, asked = BitsAndMoves(SHAPE, 2.0), asked_about(Transition(), 1)
    reports = np.array(mechanism.privatize_many(LIFE, asked, 50, InsecureSource(3)))
    found = mechanism.log_likelihood(reports, LIFE, asked)
    other = Trajectory([0, 1, 3], [0, 0, 0], [1.0, 0.0, 1.0])
    against = mechanism.log_likelihood(reports, other, asked)
    assert found is not None
    assert against is not None
    own, others = reports[:, 1 * 4 + 2] == 1, reports[:, 1 * 4 + 3] == 1
    assert (found - against)[own & ~others] == pytest.approx(2.0, abs=1e-9)
    assert (found - against)[own == others] == pytest.approx(0.0)


def test_answers_add_up_to_the_mean_return_of_a_way() -> None:
    """In exact expectation: a quarter of the thresholds lies below the return."""
    mechanism, users = BitsAndMoves(SHAPE, 2.0), 1000
    oracle = mechanism.oracle_for(2)
    spread = float(mechanism.spread(0.5))
    # One band [0, 2]: y = (bit − ½)/σ stands for a return of 1 + 2σ·y.
    what = Return(0, 2 * UNIT, UNIT // 2, 1, way=3, middle=UNIT, scale=round(2 * spread * UNIT))
    ones = users * (1 - float(oracle.keep) + oracle.contrast * 0.25)
    effects = mechanism.decode(np.array([users - ones, ones]), users, asked_about(what)).effects
    assert effects is not None
    counted, summed = effects.destinations
    assert counted[2] == pytest.approx(users)
    assert summed[2] / counted[2] == pytest.approx(0.5, abs=1e-4)
    assert np.count_nonzero(counted) == 1
    back = Return.from_parameters(what.parameters(), SHAPE)
    assert back == what
    assert "way" not in Return(0, UNIT).parameters()
