"""A question is where × what: its items, its law, and its form on the wire."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

from ldprl import Assignment, InputError, SubsetSelection, Trajectory
from ldprl.mechanisms.questions.joint import Joint
from ldprl.mechanisms.questions.observable import Observable, observable_kinds
from ldprl.mechanisms.questions.question import Question
from ldprl.mechanisms.questions.reward import Reward
from ldprl.mechanisms.questions.transition import Transition
from ldprl.mechanisms.sampling import InsecureSource
from ldprl.partition import Partition
from ldprl.shape import FloatArray
from ldprl.simulation.world import draw_true_counts
from tests.mechanisms.questions.worlds import POLICY, SHAPE, episodes, world

GROUPS = Partition(np.array([1, 0, 1]))
"""The cell of state 0 is not cell 0, so that numbers of cells and of states cannot be mixed up."""
CASES = [(what, h) for what in (Reward(), Transition(), Joint()) for h in what.steps(3)]


def asked(what: Observable, step: int, where: Partition | None = None) -> Question:
    return Question(what, step, np.linspace(0.2, 1.0, 3), where)


@pytest.mark.parametrize("where", [None, GROUPS, Partition.whole(3)], ids=["states", "two", "one"])
@pytest.mark.parametrize(("what", "step"), CASES)
def test_the_law_is_that_of_all_lives(what: Observable, step: int, where: Partition | None) -> None:
    question, mdp = asked(what, step, where), world()
    law, source = np.zeros(question.items), InsecureSource(0)
    for chance, episode in episodes(mdp, POLICY):
        law[question.item(SHAPE, POLICY, episode, source)] += chance
    np.testing.assert_allclose(question.law(mdp, POLICY), law, atol=1e-14)
    assert question.items == question.partition.count * what.outcomes(question.partition.count) + 1


@pytest.mark.parametrize("where", [None, GROUPS], ids=["states", "two"])
@pytest.mark.parametrize(("what", "step"), CASES)
def test_a_batch_holds_as_many_items_as_its_users(
    what: Observable, step: int, where: Partition | None
) -> None:
    """Counts within 6 standard errors of the law, type-I error below 1e-6 over all cases.

    The mutant asks about the step before or after. Joint laws are tested in tests/statistical.
    """
    question, mdp, rng = asked(what, step, where), world(), np.random.default_rng(1)
    users = 10**7
    held = question.held(draw_true_counts(mdp, POLICY, users, 1, rng), rng)
    assert held.sum() == users
    assert held[-1] == 0

    def fits(law: FloatArray) -> bool:
        errors = np.sqrt(users * law * (1 - law))
        return bool(np.all(np.abs(held - users * law) <= 6 * errors + 1e-6))

    assert fits(question.law(mdp, POLICY))
    assert not fits(asked(what, max(step - 1, 0) or 1 - step, where).law(mdp, POLICY))


def test_who_did_not_follow_the_policy_so_far_answers_nothing() -> None:
    question, source = asked(Reward(), 1), InsecureSource(0)
    actions = [int(POLICY[h, 0]) for h in range(3)]
    late, early = list(actions), list(actions)
    late[2], early[1] = 1 - late[2], 1 - early[1]
    followed = question.item(SHAPE, POLICY, Trajectory((0, 0, 0), late, (1, 1, 1)), source)
    left = question.item(SHAPE, POLICY, Trajectory((0, 0, 0), early, (1, 1, 1)), source)
    assert followed == 1
    assert left == question.item(SHAPE, POLICY, Trajectory.empty(), source) == question.items - 1


def test_sums_of_a_cell_stand_in_the_rows_of_its_first_state() -> None:
    """With answers that are always true, decoding gives the groups' own counts."""
    mechanism = SubsetSelection(SHAPE, 600.0, layout="joint", answers=1)
    users, step = 1000, 1
    totals = draw_true_counts(world(), POLICY, users, 1, np.random.default_rng(2))
    question = Question(Joint(), step, np.ones(3), Partition(np.array([1, 1, 0])))
    assignment = Assignment(POLICY, 1.0, (question,))
    tally = mechanism.sample_tally(totals, assignment, np.random.default_rng(3))
    sums = mechanism.decode(tally, users, assignment)
    visits = [totals.arrivals[step, :2].sum(), 0, totals.arrivals[step, 2]]
    np.testing.assert_allclose(sums.visits[0].sum(axis=1), visits, atol=1e-6)
    moves = sums.transitions[0].sum(axis=1)
    assert moves[0, 0] == pytest.approx(totals.moves[step, :2, :2].sum())
    assert moves[2, 0] == pytest.approx(totals.moves[step, 2, :2].sum())
    assert not moves[1].any()
    assert not moves[:, 1].any()
    assert sums.asked is not None
    assert sums.asked[step] == users


def test_on_the_wire_where_is_there_if_it_is_not_the_usual_one() -> None:
    usual, grouped = asked(Transition(), 1), asked(Transition(), 1, GROUPS)
    assert json.dumps(usual.document()) == '{"kind": "transition", "step": 1}'
    assert grouped.document() == {"kind": "transition", "step": 1, "where": [1, 0, 1]}
    for question in (usual, grouped):
        again = Question.from_document("q", json.loads(json.dumps(question.document())), SHAPE)
        assert again.what == question.what
        assert again.step == question.step
        assert again.partition.same(question.partition)
        assert again.document() == question.document()


@pytest.mark.parametrize(
    ("document", "field"),
    [
        ([], "q"),
        ({"step": 0}, "q.kind"),
        ({"kind": "colour", "step": 0}, "q.kind"),
        ({"kind": "os:system", "step": 0}, "q.kind"),
        ({"kind": "transition", "step": 2}, "q.step"),
        ({"kind": "reward", "step": True}, "q.step"),
        ({"kind": "reward", "step": -1}, "q.step"),
        ({"kind": "reward", "step": 0, "where": [0, 1]}, "q.where"),
        ({"kind": "reward", "step": 0, "where": [0, 1, 3]}, "q.where"),
        ({"kind": "reward", "step": 0, "where": [0, 2, 2]}, "where"),
        ({"kind": "reward", "step": 0, "where": [1, 1, 1]}, "where"),
        ({"kind": "reward", "step": 0, "where": None}, "q.where"),
    ],
)
def test_a_document_that_is_no_question_is_refused(document: Any, field: str) -> None:
    with pytest.raises(InputError) as refused:
        Question.from_document("q", document, SHAPE)
    assert refused.value.field == field


def test_matters_are_found_by_themselves_and_names_are_not_taken_twice() -> None:
    known = {"reward": Reward, "transition": Transition, "joint": Joint}
    assert known.items() <= observable_kinds().items()
    with pytest.raises(InputError, match="another name"):
        type("Thief", (Reward,), {"kind": "reward"})
    assert observable_kinds()["reward"] is Reward
