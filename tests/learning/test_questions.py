"""Plans with questions can be handed out, by every learner that asks."""

from __future__ import annotations

import numpy as np
import pytest

from ldprl import LDPEVI, LDPTS, Mechanism, Shape, SubsetSelection
from ldprl.assignment import Plan
from ldprl.learning.learner import Learner
from ldprl.mechanisms.subset_selection import LAYOUTS, LayoutName
from tests.learning.cases import NAMES, SHAPES, mechanism, sums_like

KINDS: list[type[LDPEVI] | type[LDPTS]] = [LDPEVI, LDPTS]


def assert_can_be_handed_out(handed: Plan, chosen: Mechanism) -> None:
    shape = chosen.shape
    assert sum(assignment.share for assignment in handed) == pytest.approx(1, abs=1e-9)
    asked = chosen.questions()
    for assignment in handed:
        assert assignment.share >= 0
        assert assignment.table.shape == (shape.horizon, shape.states)
        assert assignment.table.dtype == np.int64
        assert ((assignment.table >= 0) & (assignment.table < shape.actions)).all()
        assert len(assignment.questions) == (chosen.answers if asked else 0)
        for question in assignment.questions:
            assert (question.what, question.step) in asked
            assert question.weights.shape == (shape.states,)
            assert ((question.weights > 0) & (question.weights <= 1)).all()


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("kind", KINDS)
def test_every_plan_can_be_handed_out(
    kind: type[LDPEVI] | type[LDPTS], name: str, shape: Shape
) -> None:
    """Without any report, and whatever the sums; the same sums, the same plan."""
    chosen = mechanism(name, shape)
    learner: Learner = kind(chosen)
    plans = []
    for sums in (chosen.no_statistics(), *(sums_like(chosen, 1, scale) for scale in (1.0, 1e4))):
        first, again = (learner.plan(sums, np.random.default_rng(5)) for _ in range(2))
        assert_can_be_handed_out(first, chosen)
        assert len(first) == len(again)
        for one, other in zip(first, again, strict=True):
            np.testing.assert_array_equal(one.table, other.table)
        plans.append(first)
    assert plans[0]


@pytest.mark.parametrize("kind", KINDS)
def test_hostile_sums_are_survived(kind: type[LDPEVI] | type[LDPTS]) -> None:
    for name in NAMES:
        chosen = mechanism(name, Shape(3, 2, 4))
        for scale in (1e-9, 1e9, 1e15):
            found = kind(chosen).plan(sums_like(chosen, 2, scale), np.random.default_rng(0))
            assert_can_be_handed_out(found, chosen)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("answers", [2, 3])
@pytest.mark.parametrize("kind", KINDS)
def test_plans_with_several_questions_can_be_handed_out(
    kind: type[LDPEVI] | type[LDPTS], answers: int, layout: LayoutName
) -> None:
    for shape in (Shape(3, 2, 4), Shape(2, 3, 3, step_dependent=True)):
        chosen = SubsetSelection(shape, 8.0, layout=layout, answers=answers)
        for sums in (
            chosen.no_statistics(),
            *(sums_like(chosen, 1, scale) for scale in (1.0, 1e4)),
        ):
            assert_can_be_handed_out(kind(chosen).plan(sums, np.random.default_rng(5)), chosen)
