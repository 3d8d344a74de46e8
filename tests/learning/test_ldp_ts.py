"""LDP-TS: what it hands out."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from ldprl import LDPTS, Shape, SubsetSelection
from ldprl.learning.compiled import read_plan, run_planner
from ldprl.learning.planning import plan
from tests.learning.cases import sums_like
from tests.learning.exploring import serve
from tests.learning.plans import assert_equal_but_for_curiosity, by_assignment


@pytest.mark.parametrize("answers", [1, 3])
def test_plans_serve_the_drawn_policies(answers: int) -> None:
    """The users of the greedy policy share the plain choice of questions; others get one of theirs.

    How often it is the best one is tested with a type-I error of 6e-7 (5 standard deviations); a
    choice that is the same for all candidates is rejected.
    """
    shape = Shape(3, 2, 4)
    chosen = SubsetSelection(shape, 8.0, layout="separate", answers=answers)
    learner = LDPTS(chosen, draws=1)
    sums = replace(sums_like(chosen, seed=0, scale=1e4), users=10**6)
    belief = learner.belief(sums)
    greedy = plan(shape, belief.rewards, belief.moves)
    planner = learner.planner(sums, np.random.default_rng(0))
    excess, variance, evenly = 0.0, 0.0, 0.0
    for seed in range(400):
        run_planner(planner, sums, np.random.default_rng(seed))
        found = read_plan(planner.buffer, shape, chosen.questions())
        drawn = planner.drawn[0].reshape(greedy.shape)
        left = 1.0
        if not np.array_equal(drawn, greedy):
            usual = by_assignment(serve(chosen, sums, belief, drawn, greedy, 1.0, wide=True))
            ((asked, part),) = by_assignment(found[:1]).items()
            assert part == pytest.approx(sum(usual.values()) / 0.9)
            best = max(usual, key=lambda key: usual[key])
            # A tenth are asked a random question, which may be the best one.
            chance = usual[best] / part + 0.1 / len(chosen.questions())
            excess += (asked == best) - chance
            evenly += (asked == best) - 1 / 4
            variance += chance * (1 - chance)
            found, left = found[1:], 1 - part
        expected = serve(chosen, sums, belief, greedy, greedy, left, wide=False)
        assert_equal_but_for_curiosity(found, expected, 1)
    assert abs(excess) < 5 * math.sqrt(variance)
    assert abs(evenly) > 5 * math.sqrt(variance)
