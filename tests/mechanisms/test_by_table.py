"""Sums under a law of tables: of a size that does not depend on the number of tables."""

from __future__ import annotations

import numpy as np
import pytest

from ldprl import Assignment, Laplace, RandomizedResponse, Shape, SubsetSelection
from ldprl.mechanisms.mechanism import Mechanism
from ldprl.mechanisms.questions.joint import Joint
from ldprl.mechanisms.questions.question import Question
from ldprl.mechanisms.sampling import InsecureSource
from ldprl.partition import Partition
from ldprl.policies.policy import MOST_POLICIES
from ldprl.policies.tables import TableDistribution
from ldprl.shape import IntArray
from ldprl.simulation.reference import episode
from ldprl.statistics import Statistics
from tests.mechanisms.questions.worlds import SHAPE, world

STEPWISE = Shape(3, 2, 3, step_dependent=True)
ASKING = ("transition_reports", "arrivals", "asked")
GROUPS = Partition(np.array([1, 0, 1]))


def law(shape: Shape, steps: int, where: Partition | None = None) -> TableDistribution:
    cells = shape.states if where is None else where.count
    chances = np.random.default_rng(1).dirichlet(np.ones(shape.actions), (steps, cells))
    return TableDistribution.of(shape, chances, "5" * 32, where)


def reports_of(
    mechanism: Mechanism, assignment: Assignment, users: int
) -> tuple[list[list[int]], list[int]]:
    """Return the values that users send, and their tables."""
    rng = np.random.default_rng(2)
    source = InsecureSource(3)
    numbers = rng.integers(MOST_POLICIES, size=users).tolist()
    values = []
    for number in numbers:
        received = assignment.drawn(number)
        trajectory = episode(world(), received.table, rng)
        report = mechanism.privatize(trajectory, received, source)
        values.append(mechanism.codec(received).write(report))
    return values, numbers


CASES = {
    "rewards and transitions": (SubsetSelection(SHAPE, 2.0, layout="separate", answers=1), 1, None),
    "joint": (SubsetSelection(SHAPE, 2.0, layout="joint", answers=1), 1, None),
    "two answers": (SubsetSelection(SHAPE, 3.0, layout="separate", answers=2), 3, None),
    "by step": (SubsetSelection(STEPWISE, 2.0, layout="separate", answers=1), 3, None),
    "groups that act alike": (SubsetSelection(SHAPE, 2.0, layout="joint", answers=1), 3, GROUPS),
    "laplace": (Laplace(SHAPE, 2.0), 1, None),
    "laplace by step": (Laplace(STEPWISE, 2.0), 3, None),
    "bits": (RandomizedResponse(SHAPE, 2.0), 3, None),
    "bits whatever the policy": (RandomizedResponse(SHAPE, 2.0, policy_aware=False), 3, None),
}


@pytest.mark.parametrize("case", CASES)
def test_sums_by_table_decode_to_what_each_report_decodes_to(case: str) -> None:
    """One tally for all tables gives the same sums as decoding report by report."""
    mechanism, steps, where = CASES[case]
    shape = mechanism.shape
    plan = mechanism.ask((Assignment(law(shape, steps, where)),))
    if where is not None:
        asked = tuple(Question(Joint(), h, np.linspace(0.5, 1, 3), where) for h in range(3))
        plan = tuple(Assignment(plan[0].policies, 1 / 3, (question,)) for question in asked)
    users = 300
    for assignment in plan:
        letters = mechanism.codec(assignment)
        values, numbers = reports_of(mechanism, assignment, users)
        admitted = [letters.admit(one) for one in values]
        tally = letters.total(admitted, numbers)
        assert tally.shape == (letters.length,)
        assert letters.length <= 20 * shape.cells * shape.states
        one_by_one = sum(
            (letters.read(one, number) for one, number in zip(values, numbers, strict=True)),
            np.zeros(letters.length, dtype=np.int64),
        )
        assert np.array_equal(tally, one_by_one)
        found = mechanism.decode(tally, users, assignment)
        expected = _one_by_one(mechanism, assignment, values, numbers)
        for field in ("rewards", "visits", "transitions", "reports", *ASKING):
            one, other = getattr(found, field), getattr(expected, field)
            assert (one is None) == (other is None)
            if one is not None:
                np.testing.assert_allclose(one, other, atol=1e-9, err_msg=field)
        assert found.users == users


def _one_by_one(
    mechanism: Mechanism, assignment: Assignment, values: list[list[int]], numbers: list[int]
) -> Statistics:
    total: Statistics = mechanism.no_statistics()
    for one, number in zip(values, numbers, strict=True):
        received = assignment.drawn(number)
        total += mechanism.decode(mechanism.codec(received).read(one), 1, received)
    return total


def test_what_nobody_told_still_counts_its_reports() -> None:
    """Expected numbers of reports: chances times users, and as many as the tables really have."""
    for mechanism in (SubsetSelection(SHAPE, 2.0), Laplace(SHAPE, 2.0)):
        assignment = mechanism.ask((Assignment(law(SHAPE, 3)),))[0]
        letters = mechanism.codec(assignment)
        users = 1500
        expected = mechanism.decode(letters.blank(users), users, assignment).reports
        values, numbers = reports_of(mechanism, assignment, users)
        seen = mechanism.decode(letters.total(values, numbers), users, assignment).reports
        assert np.all(np.abs(seen - expected) <= 6 * np.sqrt(users) / 2)
        assert expected.sum() > users


def test_an_answer_about_all_states_reaches_every_row() -> None:
    """One cell: what is reported counts for the action that each state was given."""
    shape = Shape(2, 2, 1)
    question = Question(Joint(), 0, np.ones(2), Partition.whole(2))
    reported = np.array([[0], [1], [2]])  # bit 0, bit 1, ⊥; one next cell

    class Everywhere(Joint):
        kind = "joint everywhere"

        def rows(self, shape: Shape, step: int, where: Partition) -> tuple[IntArray, IntArray]:
            return np.zeros(shape.states, dtype=np.int64), np.arange(shape.states)

    everywhere = Question(Everywhere(), 0, np.ones(2), Partition.whole(2))
    tables = np.array([[[0, 1]], [[1, 1]], [[0, 0]]])
    counts = everywhere.crossed(shape, reported, tables)
    answers, reports = counts[:8].reshape(2, 2, 2), counts[8:].reshape(2, 2)
    assert answers[0].tolist() == [[1, 0], [0, 1]]
    assert answers[1].tolist() == [[0, 0], [1, 1]]
    assert reports.tolist() == [[2, 1], [1, 2]]
    assert question.crossed(shape, reported, tables)[:4].tolist() == [1, 0, 0, 1]
