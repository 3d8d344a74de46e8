"""A plan is checked where it enters, whatever learner made it, and its shares add up."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from ldprl import (
    Assignment,
    InputError,
    Laplace,
    Learner,
    Shape,
    Statistics,
    SubsetSelection,
    random_mdp,
    simulate,
)
from ldprl.assignment import check_plan, shares_of
from ldprl.mechanisms.mechanism import Mechanism
from ldprl.mechanisms.questions.question import Question
from ldprl.mechanisms.questions.reward import Reward
from ldprl.mechanisms.questions.transition import Transition
from ldprl.partition import Partition
from ldprl.policies.tables import TableDistribution
from ldprl.simulation.reference import run_protocol

SHAPE = Shape(3, 2, 2)
TABLE = np.array([[0, 1, 0], [1, 1, 1]])
EVEN = np.ones(3)


def asking(question: Question) -> tuple[Assignment, ...]:
    return (Assignment(TABLE, 1.0, (question,)),)


def law(where: Partition | None = None) -> TableDistribution:
    cells = 3 if where is None else where.count
    return TableDistribution.of(SHAPE, np.full((1, cells, 2), 0.5), "0" * 32, where)


ASKED = "plan[0].questions[0]"
PAIR = Partition(np.array([0, 1, 0]))
BAD: dict[str, tuple[Any, str]] = {
    "no tuple": (Assignment(TABLE), "plan"),
    "nothing": ((), "plan"),
    "no assignment": ((TABLE,), "plan[0]"),
    "half of the users": ((Assignment(TABLE, 0.5),), "plan"),
    "too many": ((Assignment(TABLE, 0.7), Assignment(TABLE, 0.7)), "plan"),
    "nearly all": ((Assignment(TABLE, 1 - 1e-8),), "plan"),
    "a share below 0": ((Assignment(TABLE, 1.5), Assignment(TABLE, -0.5)), "plan[1].share"),
    "no number": ((Assignment(TABLE, float("nan")),), "plan[0].share"),
    "text": ((Assignment(TABLE, "half"),), "plan[0].share"),  # type: ignore[arg-type]
    "one step short": ((Assignment(TABLE[:1]),), "plan[0].policy"),
    "floats": ((Assignment(TABLE.astype(float)),), "plan[0].policy"),
    "truths": ((Assignment(TABLE.astype(bool)),), "plan[0].policy"),
    "an action too far": ((Assignment(TABLE + 1),), "plan[0].policy[0, 1]"),
    "an action below 0": ((Assignment(TABLE - 1),), "plan[0].policy[0, 0]"),
    "a law of another shape": (
        (Assignment(TableDistribution.of(Shape(1, 1, 1), np.ones((1, 1, 1)), "0" * 32)),),
        "plan[0].policy",
    ),
    "a step that leads nowhere": (asking(Question(Transition(), 1, EVEN)), ASKED + ".step"),
    "weights of fewer states": (asking(Question(Reward(), 0, EVEN[:2])), ASKED + ".weights"),
    "a weight above 1": (asking(Question(Reward(), 0, 2 * EVEN)), ASKED + ".weights"),
    "a cell whose states act differently": (
        asking(Question(Reward(), 0, EVEN, Partition(np.array([0, 0, 1])))),
        ASKED + ".where",
    ),
    "a law by state under a question by group": (
        (Assignment(law(), 1.0, (Question(Reward(), 0, EVEN, PAIR),)),),
        ASKED + ".where",
    ),
}  # fmt: skip


class Handing(Learner):
    """Hands out what a test gives it."""

    name = "handing"
    summary = "a plan of the test"
    private = True

    def __init__(self, plan: Any) -> None:
        self._plan = plan

    def plan(self, statistics: Statistics, rng: np.random.Generator) -> tuple[Assignment, ...]:
        plan: tuple[Assignment, ...] = self._plan
        return plan


@pytest.mark.parametrize("case", BAD)
def test_a_bad_plan_is_refused_and_named(case: str) -> None:
    plan, field = BAD[case]
    with pytest.raises(InputError) as refused:
        check_plan(plan, SHAPE)
    assert refused.value.field == field


@pytest.mark.parametrize(
    "play",
    [
        lambda mdp, learner, mechanism: simulate(mdp, learner, mechanism, 10),
        lambda mdp, learner, mechanism: list(run_protocol(mdp, learner, mechanism, 2)),
    ],
    ids=["batches", "one by one"],
)
@pytest.mark.parametrize("case", ["half of the users", "too many", "an action too far"])
def test_simulation_refuses_it(case: str, play: Callable[[Any, Learner, Mechanism], Any]) -> None:
    plan, field = BAD[case]
    mdp = random_mdp(states=3, actions=2, horizon=2, seed=0)
    with pytest.raises(InputError) as refused:
        play(mdp, Handing(plan), Laplace(SHAPE, 1.0))
    assert refused.value.field == field


def test_questions_are_questions() -> None:
    with pytest.raises(InputError, match=r"questions\[0\] = 'reward': expected a Question"):
        Assignment(TABLE, 1.0, ("reward",))  # type: ignore[arg-type]


def test_good_plans_pass_as_they_are() -> None:
    third = (Assignment(TABLE, 1 / 3), Assignment(TABLE, 1 / 3), Assignment(law(), 1 / 3 + 5e-10))
    assert check_plan(third, SHAPE) == third
    assert check_plan(list(third), SHAPE) == third
    assert shares_of(third).sum() == pytest.approx(1, abs=1e-15)
    np.random.default_rng(0).multinomial(10, shares_of(third))
    grouped = asking(Question(Reward(), 0, EVEN, PAIR))
    assert check_plan(grouped, SHAPE) == grouped
    together = (Assignment(law(PAIR), 1.0, (Question(Reward(), 0, EVEN, PAIR),)),)
    assert check_plan(together, SHAPE) == together


def test_an_assignment_with_a_law_has_no_single_table() -> None:
    one = Assignment(law())
    with pytest.raises(InputError, match="law of policies"):
        _ = one.table
    with pytest.raises(InputError, match="number"):
        one.drawn(None)
    assert np.array_equal(one.drawn(5).table, law().table(5))
    assert Assignment(TABLE).drawn(None).table is TABLE
    np.testing.assert_allclose(one.chances(SHAPE), 0.5)
    assert Assignment(TABLE).chances(SHAPE).sum(axis=2).tolist() == [[1.0] * 3] * 2


def test_users_spread_over_the_tables() -> None:
    it = TableDistribution.of(SHAPE, np.full((1, 3, 2), 0.5), "0" * 32)
    spread = list(Assignment(it).spread(1000, np.random.default_rng(0)))
    assert [users for _, users in spread] == [1] * 1000
    # All 64 tables of two actions in six cells, each by 1/64.
    assert len({one.table.tobytes() for one, _ in spread}) == 8
    assert {users for _, users in Assignment(TABLE).spread(7, np.random.default_rng(0))} == {7}


@pytest.mark.parametrize("engine", ["batches", "one by one"])
def test_a_law_is_simulated(engine: str) -> None:
    """Reports under random tables are evidence about every action, in both simulations."""
    mdp = random_mdp(states=3, actions=2, horizon=2, seed=0)
    mechanism = SubsetSelection(SHAPE, 4.0)
    learner = Handing((Assignment(law()),))
    if engine == "batches":
        (sums,) = simulate(mdp, learner, mechanism, 500).statistics
    else:
        *_, last = run_protocol(mdp, learner, mechanism, 500)
        sums = last.statistics
    assert sums.users == 500
    assert np.all(sums.reports > 0)


def test_a_share_above_one_by_a_rounding_error_is_drawn_from() -> None:
    shares = shares_of((Assignment(TABLE, np.nextafter(1.0, 2.0)),))
    assert np.random.default_rng(0).multinomial(5, shares).tolist() == [5]
