"""Reports are unbiased, and sums of many are drawn with the law that adding them up has."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest

from ldprl import Assignment, Shape, Trajectory
from ldprl.layout import Layout
from ldprl.mechanisms.counting import CountingMechanism
from ldprl.mechanisms.sampling import InsecureSource
from ldprl.shape import Array, FloatArray
from tests.mechanisms.mechanisms import PRIVATE, WITH_RESOLUTION
from tests.statistical.checks import TYPE_I, mean_is, same_law, together

USERS = 3000
GROUP = 3
SUMS = 1500
# Two steps in different cells, with rewards that no grid used here holds exactly.
EPISODE = Trajectory([0, 1], [1, 0], [0.3, 0.9])
POLICY = np.array([[1, 0], [1, 0]])
VARIANTS: list[dict[str, Any]] = [
    {"constants": "sound"},
    {"constants": "sound", "squares": True, "step_dependent": True},
    {"constants": "paper", "squares": True},
    {"constants": "paper", "step_dependent": True},
]
FINER: list[dict[str, Any]] = [
    {"constants": "sound", "squares": True, "resolution": 4},
    {"constants": "sound", "step_dependent": True, "resolution": 4},
]
CASES = [(name, i) for name in PRIVATE for i in range(len(VARIANTS))]
FINER_CASES = [(name, len(VARIANTS) + i) for name in WITH_RESOLUTION for i in range(len(FINER))]
PARAMETERS = [pytest.param(*case, id=f"{case[0]}-{case[1]}") for case in CASES] + [
    pytest.param(*case, id=f"{case[0]}-{case[1]}", marks=pytest.mark.slow) for case in FINER_CASES
]


@cache
def reports_of(name: str, variant: int) -> tuple[CountingMechanism, Array]:
    """Return a mechanism and what ``USERS`` users whose episode was ``EPISODE`` report."""
    options = dict((VARIANTS + FINER)[variant])
    shape = Shape(2, 2, 2, step_dependent=options.pop("step_dependent", False))
    mechanism = PRIVATE[name](shape, policy_aware=False, **options)
    source = InsecureSource(variant)
    counts = np.array([EPISODE.counts(mechanism.layout, source) for _ in range(USERS)])
    return mechanism, mechanism.privatize_counts(counts, source)


def decoded(mechanism: CountingMechanism, tallies: Array, users: int) -> FloatArray:
    """Return each tally's estimate of all counters, in the units that Statistics has."""
    rows = []
    for tally in tallies:
        found = mechanism.decode(tally, users, Assignment(POLICY))
        blocks = [found.rewards, found.visits, found.transitions]
        blocks += [] if found.squares is None else [found.squares]
        rows.append(np.concatenate([block.ravel() for block in blocks]))
    return np.array(rows)


def truth_of(mechanism: CountingMechanism) -> Array:
    exact = Layout(mechanism.shape, mechanism.layout.squares, resolution=None)
    return EPISODE.counts(exact, InsecureSource(0))


@pytest.mark.parametrize(("name", "variant"), PARAMETERS)
def test_reports_are_unbiased_in_every_cell(name: str, variant: int) -> None:
    """z-tests, Bonferroni over the cells, type-I error 1e-6.

    Mutants: noise whose mean is off by 0.15 of its standard deviation and, for randomized bits, a
    decoder that forgets the flips' bias.
    """
    mechanism, reports = reports_of(name, variant)
    estimates, truth = decoded(mechanism, reports, 1), truth_of(mechanism)
    assert mean_is(estimates, truth) > TYPE_I
    assert mean_is(estimates + 0.15 * estimates.std(axis=0), truth) < TYPE_I
    if hasattr(mechanism, "flip"):
        assert mean_is(reports * np.where(mechanism.layout.units() > 1, 1 / 3, 1.0), truth) < TYPE_I


@pytest.mark.parametrize(("name", "variant"), PARAMETERS)
def test_sums_have_the_law_of_added_reports(name: str, variant: int) -> None:
    """Two-sample χ² a counter, Bonferroni over them, type-I error 1e-6.

    Mutant: sums with the right mean and half of the noise.
    """
    mechanism, reports = reports_of(name, variant)
    added = reports.reshape(-1, GROUP, reports.shape[1]).sum(axis=1)
    source, rng = InsecureSource(99), np.random.default_rng(variant)
    drawn = []
    for _ in range(SUMS):
        counts = sum(EPISODE.counts(mechanism.layout, source) for _ in range(GROUP))
        drawn.append(mechanism.sample_counts(np.asarray(counts), GROUP, rng))
    sums = np.array(drawn)
    half = sums.mean(axis=0) + (sums - sums.mean(axis=0)) / 2
    assert sums.dtype.kind == reports.dtype.kind
    columns = range(sums.shape[1])
    assert together([same_law(added[:, i], sums[:, i]) for i in columns]) > TYPE_I
    assert together([same_law(added[:, i], half[:, i]) for i in columns]) < TYPE_I


@pytest.mark.parametrize("name", PRIVATE)
def test_a_report_is_the_randomized_counters(name: str) -> None:
    """Together with the tests above: what they say of counters holds for whole trajectories."""
    mechanism = PRIVATE[name](Shape(2, 2, 2), squares=True)
    whole, parts = InsecureSource(5), InsecureSource(5)
    report = mechanism.privatize(EPISODE, Assignment(POLICY), whole)
    counts = EPISODE.counts(mechanism.layout, parts)
    assert np.array_equal(report, mechanism.privatize_counts(counts, parts))


def test_sample_counts_leaves_its_input_alone() -> None:
    for build in PRIVATE.values():
        mechanism = build(Shape(2, 2, 2))
        counts = np.zeros(mechanism.layout.length, dtype=np.int64)
        mechanism.sample_counts(counts, 5, np.random.default_rng(0))
        assert not counts.any()
