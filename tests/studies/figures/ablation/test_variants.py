"""Each variant of a learner leaves out what it says."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from ldprl.learning.ldp_evi import LDPEVI
from ldprl.mechanisms.subset_selection import SubsetSelection
from ldprl.simulation.engine import simulate
from ldprl.statistics import Statistics
from ldprl.worlds import random_mdp
from studies.figures.ablation.variants import (
    VARIANTS,
    AllExplore,
    AllExploreOn,
    AskedEvenly,
    Unguarded,
    Unweighted,
)


def _evi_plan(kind: type[LDPEVI], statistics: Statistics, epsilon: float = 2.0) -> Any:
    learner = kind(SubsetSelection(statistics.shape, epsilon))
    return learner.plan(statistics, np.random.default_rng(0))


@pytest.fixture(scope="module")
def known() -> Statistics:
    """Return sums at which LDP-EVI lets only some explore: its policies differ at both steps."""
    mdp = random_mdp(2, 2, 2, 1003)
    mechanism = SubsetSelection(mdp.shape, 2.0)
    for seed in range(30):
        (found,) = simulate(mdp, Unguarded(mechanism), mechanism, 1000, seed=seed).statistics
        optimistic, greedy = LDPEVI(mechanism).policies(found)
        if (optimistic != greedy).any(axis=1).all():
            return replace(found, users=10**6)
    pytest.fail("at no seed do the policies differ")


def test_each_variant_leaves_out_what_it_says(known: Statistics) -> None:
    whole = _evi_plan(LDPEVI, known)
    unweighted = _evi_plan(Unweighted, known)
    assert any((one.questions[0].weights != 1).any() for one in whole)
    assert all((one.questions[0].weights == 1).all() for one in unweighted)
    for one, other in zip(whole, unweighted, strict=True):
        assert one.share == other.share
        np.testing.assert_array_equal(one.table, other.table)

    unguarded = _evi_plan(Unguarded, known)
    for one, other in zip(unguarded, whole, strict=False):
        assert one.share > other.share
        assert (one.questions[0].weights >= other.questions[0].weights).all()
    assert len(whole) == len(unguarded) + len(SubsetSelection(known.shape, 2.0).questions())

    exploring, on = _evi_plan(AllExplore, known), _evi_plan(AllExploreOn, known)
    asking = SubsetSelection(known.shape, 2.0)
    alike: Any = asking.ask(AskedEvenly(asking).plan(known, np.random.default_rng(0)))
    groups = [
        {
            one.table.tobytes()
            for one in alike
            if [(question.what, question.step) for question in one.questions] == [asked]
        }
        for asked in asking.questions()
    ]
    assert all(group == groups[0] for group in groups)

    (optimistic,) = {one.table.tobytes(): one.table for one in on}.values()

    def explore(plan: Any) -> list[bool]:
        """Return whether each assignment is optimistic up to the step that it asks about."""
        asked = [one.questions[0].step + 1 for one in plan]
        return [
            bool((one.table[:h] == optimistic[:h]).all())
            for one, h in zip(plan, asked, strict=True)
        ]

    assert not all(explore(whole))
    assert all(explore(exploring))
    assert any((one.table != optimistic).any() for one in exploring)
    for plan in (exploring, on):
        assert sum(one.share for one in plan) == pytest.approx(1)


@pytest.mark.parametrize("name", VARIANTS)
def test_every_variant_runs(name: str) -> None:
    mdp = random_mdp(2, 2, 2, 1000)
    mechanism, make = VARIANTS[name]
    learner, built = make(mdp.shape, 2.0, 0.1)
    assert built.name == mechanism
    assert built.guarantee.epsilon == 2.0
    (regret,) = simulate(mdp, learner, built, 50).curves
    assert np.isfinite(regret).all()
