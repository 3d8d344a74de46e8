"""LDP-TS: what it hands out."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pytest

from ldprl import LDPTS, Shape, SubsetSelection
from ldprl.assignment import Plan
from ldprl.learning.planners.calling import make_plan
from ldprl.learning.planning import plan
from tests.learning.cases import sums_like
from tests.learning.exploring import serve
from tests.learning.plans import assert_equal_but_for_curiosity


@pytest.mark.parametrize("answers", [1, 3])
def test_plans_serve_the_drawn_policies(answers: int) -> None:
    """What the users of each drawn policy are asked equals the plain choice."""
    shape = Shape(3, 2, 4)
    chosen = SubsetSelection(shape, 8.0, layout="separate", answers=answers)
    learner = LDPTS(chosen, draws=1)
    explored = 0
    for seed, scale in itertools.product(range(4), (1e3, 1e5)):
        sums = replace(sums_like(chosen, seed, scale), users=10**6)
        belief = learner.belief(sums)
        greedy = plan(shape, belief.rewards, belief.moves)
        planner = learner.planner(sums, np.random.default_rng(0))
        draft = learner.room(sums)
        found = make_plan(planner, sums, draft, np.random.default_rng(seed), chosen.questions())
        drawn = planner.drawn[0].reshape(greedy.shape)
        expected: Plan = ()
        if not np.array_equal(drawn, greedy):
            expected = serve(chosen, sums, belief, drawn, greedy, 1.0, wide=True)
            explored += 1
        left = 1 - sum(one.share for one in expected) / 0.9
        expected += serve(chosen, sums, belief, greedy, greedy, left, wide=False)
        assert_equal_but_for_curiosity(found, expected, 2)
    assert explored > 0
