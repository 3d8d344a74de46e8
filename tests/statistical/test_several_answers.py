"""Tallies of several answers of many users at once, against users one by one."""

from __future__ import annotations

import numpy as np
import pytest

from ldprl import Assignment, SubsetSelection
from ldprl.mechanisms.sampling import InsecureSource
from ldprl.mechanisms.subset_selection import LayoutName
from ldprl.shape import IntArray
from ldprl.simulation.reference import episode
from ldprl.simulation.world import draw_true_counts
from tests.statistical.checks import TYPE_I
from tests.statistical.test_subset_laws import POLICY, USERS, WORLD, all_and_pairs

REPEATS = 1500


def one_by_one(mechanism: SubsetSelection, assignment: Assignment) -> IntArray:
    rng, source = np.random.default_rng(3), InsecureSource(4)
    return np.array(
        [
            sum(
                mechanism.privatize(episode(WORLD, POLICY, rng), assignment, source)
                for _ in range(USERS)
            )
            for _ in range(REPEATS)
        ]
    )


@pytest.mark.parametrize("layout", ["joint", pytest.param("separate", marks=pytest.mark.slow)])
def test_a_batch_has_the_law_of_its_users(layout: LayoutName) -> None:
    """Two-sample χ² on items and pairs of items, also of different questions; type-I error 1e-6.

    The mutant, whose two answers come from different batches of users, is rejected.
    """
    mechanism = SubsetSelection(WORLD.shape, 8.0, layout=layout, answers=2)
    assignment = mechanism.ask((Assignment(POLICY),))[-1]
    rng = np.random.default_rng(5)

    def batch() -> IntArray:
        totals = (draw_true_counts(WORLD, POLICY, USERS, 1, rng) for _ in range(REPEATS))
        return np.array([mechanism.sample_tally(one, assignment, rng) for one in totals])

    single = one_by_one(mechanism, assignment)
    found, other = batch(), batch()
    assert all_and_pairs(found, single) > TYPE_I
    _, second = (place for _, _, place in mechanism.parts(assignment))
    found[:, second] = other[:, second]
    assert all_and_pairs(found, single) < TYPE_I
