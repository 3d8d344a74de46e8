"""Cells that a policy cannot visit stay clean: decoding knows which policy the user ran."""

from __future__ import annotations

import numpy as np
import pytest

from ldprl import Assignment, Shape, Trajectory
from ldprl.layout import Layout
from ldprl.mechanisms.sampling import InsecureSource
from tests.mechanisms.mechanisms import PRIVATE
from tests.statistical.checks import TYPE_I, mean_is

# Both steps play action 1 in state 0; in state 1 the second step plays another action.
POLICY = np.array([[1, 0], [1, 1]])
LIVED = Trajectory([0, 1], [1, 1], [0.3, 0.9])
USERS = 400


@pytest.mark.parametrize("step_dependent", [False, True])
@pytest.mark.parametrize("name", PRIVATE)
def test_only_cells_in_the_policys_support_are_decoded(name: str, step_dependent: bool) -> None:
    shape = Shape(2, 2, 2, step_dependent)
    mechanism = PRIVATE[name](shape, squares=True)
    assert mechanism.policy_aware
    report = mechanism.privatize(LIVED, Assignment(POLICY), InsecureSource(0))
    found = mechanism.decode(report, 1, Assignment(POLICY))
    if step_dependent:
        played = np.array([[[0, 1], [1, 0]], [[0, 1], [0, 1]]], dtype=bool)
    else:
        played = np.array([[[0, 1], [1, 1]]], dtype=bool)
    assert np.array_equal(found.reports, played.astype(int))
    assert found.squares is not None
    for block in (found.rewards, found.visits, found.squares):
        assert not block[~played].any()
    moving = played[: shape.transition_models]
    assert not found.transitions[~moving].any()


@pytest.mark.parametrize("name", PRIVATE)
def test_decoding_is_on_in_sound_mode_and_off_in_papers(name: str) -> None:
    shape = Shape(2, 2, 2)
    assert PRIVATE[name](shape).policy_aware
    paper = PRIVATE[name](shape, constants="paper")
    assert not paper.policy_aware
    report = paper.privatize(LIVED, Assignment(POLICY), InsecureSource(0))
    assert np.all(paper.decode(report, 1, Assignment(POLICY)).reports == 1)


@pytest.mark.parametrize("name", PRIVATE)
def test_decoding_is_unbiased_inside_the_support(name: str) -> None:
    """z-tests, Bonferroni over the cells, at type-I error 1e-6; off by 0.4σ is rejected."""
    shape = Shape(2, 2, 2)
    mechanism = PRIVATE[name](shape)
    source, rng, assignment = InsecureSource(1), np.random.default_rng(2), Assignment(POLICY)
    rows = []
    for _ in range(USERS):
        tally = mechanism.sample_counts(LIVED.counts(mechanism.layout, source), 1, rng)
        found = mechanism.decode(tally, 1, assignment)
        blocks = (found.rewards, found.visits, found.transitions)
        rows.append(np.concatenate([block.ravel() for block in blocks]))
    estimates = np.array(rows)
    truth = LIVED.counts(Layout(shape, resolution=None), source)
    assert mean_is(estimates, truth) > TYPE_I
    assert mean_is(estimates + 0.4 * estimates.std(axis=0), truth) < TYPE_I
