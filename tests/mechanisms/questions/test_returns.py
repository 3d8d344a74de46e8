"""The return's bit: its law by enumeration, its edges, and what a document may say of it."""

from itertools import product
from typing import Literal

import numpy as np
import pytest

from ldprl.errors import InputError
from ldprl.mechanisms.questions.question import Question
from ldprl.mechanisms.questions.returns import UNIT, Return
from ldprl.mechanisms.sampling import InsecureSource
from ldprl.mechanisms.trajectory import Trajectory
from ldprl.shape import Shape
from ldprl.worlds import random_mdp
from ldprl.worlds.tabular import TabularMDP

SHAPE = Shape(3, 2, 3)
HALF = Return(UNIT // 2, 5 * UNIT // 2)


def _by_enumeration(mdp: TabularMDP, policy: np.ndarray, what: Return) -> float:
    """P(bit = 1) as a sum over all sequences of states and rewards."""
    total = 0.0
    for states in product(range(mdp.shape.states), repeat=mdp.horizon):
        for bits in product((0, 1), repeat=mdp.horizon):
            chance, earned = float(mdp.initial[states[0]]), 0.0
            for h, (state, bit) in enumerate(zip(states, bits, strict=True)):
                reward = mdp.step_rewards[h, state, policy[h, state]]
                if mdp.reward_kind == "bernoulli":
                    chance *= reward if bit else 1 - reward
                    earned += bit
                else:
                    chance *= 0.5
                    earned += reward
                if h + 1 < mdp.horizon:
                    chance *= mdp.step_transitions[h, state, policy[h, state], states[h + 1]]
            low, high = what.low / UNIT, what.high / UNIT
            total += chance * min(max((earned - low) / (high - low), 0), 1)
    return total


@pytest.mark.parametrize("kind", ["deterministic", "bernoulli"])
def test_law_is_the_sum_over_all_lives(kind: Literal["deterministic", "bernoulli"]) -> None:
    drawn = random_mdp(3, 2, 3, seed=1)
    rewards = np.random.default_rng(2).random((3, 2))
    mdp = TabularMDP(drawn.step_transitions[0], rewards, 3, drawn.initial, reward_kind=kind)
    policy = np.array([[0, 1, 1], [1, 0, 1], [0, 0, 1]])
    law = Question(HALF, 0, np.ones(3)).law(mdp, policy)
    assert law.shape == (2,)
    assert law.sum() == pytest.approx(1)
    assert law[1] == pytest.approx(_by_enumeration(mdp, policy, HALF))


def test_bits_are_certain_outside_the_range_and_in_proportion_inside() -> None:
    shares = HALF.share(np.array([0.0, 0.5, 1.5, 2.0, 2.5, 3.0]))
    assert shares.tolist() == [0, 0, 0.5, 0.75, 1, 1]


def test_those_who_do_not_follow_their_table_answer_with_a_fair_coin() -> None:
    question = Question(HALF, 0, np.ones(3))
    policy = np.zeros((3, 3), dtype=np.int64)
    source = InsecureSource(0)
    astray = Trajectory([0, 0, 0], [0, 0, 1], [1.0, 1.0, 1.0])
    followed = Trajectory([0, 0, 0], [0, 0, 0], [1.0, 1.0, 1.0])
    answers = [question.item(SHAPE, policy, astray, source) for _ in range(400)]
    # 400 fair coins leave [130, 270] with probability below 1e-11; a constant answer always does.
    assert 130 < sum(answers) < 270
    assert {question.item(SHAPE, policy, followed, source) for _ in range(50)} == {1}


def test_a_document_says_it_all() -> None:
    question = Question(Return(7, 9, 3, 0), 0, np.ones(3))
    read = Question.from_document("q", question.document(), SHAPE)
    assert read.what == question.what
    assert question.items == 2


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("low", -1),
        ("low", 3 * UNIT),
        ("high", 3 * UNIT + 1),
        ("high", 1),
        ("high", 2.0),
        ("expected", UNIT + 1),
        ("scored", 4),
        ("scored", True),
        ("low", None),
    ],
)
def test_bad_bounds_are_refused(field: str, value: object) -> None:
    document = {"kind": "return", "step": 0} | Return(1, 9).parameters() | {field: value}
    with pytest.raises(InputError, match=f"questions.{field}"):
        Question.from_document("q", document, SHAPE)


def test_steps_after_the_first_are_refused() -> None:
    document = {"kind": "return", "step": 1} | Return(1, 9).parameters()
    with pytest.raises(InputError, match="step"):
        Question.from_document("q", document, SHAPE)
