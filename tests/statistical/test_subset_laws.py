"""Subset selection: what is drawn one by one, and many at once, has the law that it should."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations
from typing import Any

import numba
import numpy as np
import pytest
from scipy import stats

from ldprl import TabularMDP
from ldprl.kernels.hypergeometric import hypergeometric
from ldprl.kernels.subsets import room_for, subset_tally, tally_of_law
from ldprl.mechanisms.questions.joint import Joint
from ldprl.mechanisms.questions.observable import Observable
from ldprl.mechanisms.questions.reward import Reward
from ldprl.mechanisms.questions.transition import Transition
from ldprl.mechanisms.sampling import InsecureSource
from ldprl.mechanisms.subset import SubsetOracle, _threshold
from ldprl.mechanisms.true_counts import TrueCounts
from ldprl.partition import Partition
from ldprl.shape import Array, FloatArray, IntArray
from ldprl.simulation.reference import episode
from ldprl.simulation.world import draw_true_counts
from tests.mechanisms.subsets import chance_of, subsets
from tests.statistical.checks import TYPE_I, fit, same_law, together

jit: Any = numba.njit


def oracle_of(items: int, size: int, epsilon: str = "1.3") -> SubsetOracle:
    return SubsetOracle(items, size, _threshold(items, size, Fraction(epsilon)))


def all_and_pairs(first: Array, second: Array) -> float:
    """Return one p-value of all columns, and of all sums of two columns, having one law."""
    columns = range(first.shape[1])
    tests = [same_law(first[:, i], second[:, i]) for i in columns]
    tests += [
        same_law(first[:, i] + first[:, j], second[:, i] + second[:, j])
        for i, j in combinations(columns, 2)
    ]
    return together(tests)


@pytest.mark.parametrize(("items", "size"), [(2, 1), (5, 1), (6, 3), (7, 2)])
def test_reports_fit_their_law(items: int, size: int) -> None:
    """χ² over all subsets at type-I error 1e-6; another ε by a tenth is rejected."""
    oracle, other = oracle_of(items, size), oracle_of(items, size, "1.43")
    names = {subset: i for i, subset in enumerate(subsets(oracle))}
    values = np.arange(len(names))
    for item in (0, items - 1):
        drawn = oracle.draw_many(item, 60_000, InsecureSource(item))
        found = np.array([names[tuple(np.flatnonzero(report).tolist())] for report in drawn])
        laws = [[float(chance_of(o, subset, item)) for subset in names] for o in (oracle, other)]
        assert fit(found, values, laws[0]) > TYPE_I
        assert fit(found, values, laws[1]) < TYPE_I


ITEMS = np.array([6, 0, 3, 1, 0, 2, 4])
REPEATS = 6_000


def one_by_one(oracle: SubsetOracle, items: IntArray, repeats: int, seed: int) -> IntArray:
    source = InsecureSource(seed)
    total = np.zeros((repeats, oracle.items), dtype=np.int64)
    for item, users in enumerate(items.tolist()):
        reports = oracle.draw_many(item, repeats * users, source)
        total += reports.reshape(repeats, users, oracle.items).sum(axis=1)
    return total


@pytest.mark.parametrize("size", [1, 2, 3, 5])
def test_a_batch_has_the_law_of_its_users(size: int) -> None:
    """Two-sample χ² on cells and pairs, type-I error 1e-6; independent binomials are rejected."""
    oracle = oracle_of(len(ITEMS), size)
    users = ITEMS.sum()
    rng = np.random.default_rng(size)
    keep, chance = float(oracle.keep), float(oracle.chance)
    batch = np.array([subset_tally(ITEMS, size, keep, rng) for _ in range(REPEATS)])
    assert np.all(batch.sum(axis=1) == users * size)
    single = one_by_one(oracle, ITEMS, REPEATS, seed=size)
    assert all_and_pairs(batch, single) > TYPE_I
    cells = (REPEATS, len(ITEMS))
    mutant = rng.binomial(ITEMS, keep, cells) + rng.binomial(users - ITEMS, chance, cells)
    assert all_and_pairs(mutant, single) < TYPE_I


@jit
def _law_tallies(
    law: FloatArray, users: float, size: int, keep: float, room: FloatArray, streams: Array,
    tallies: FloatArray,
) -> None:  # fmt: skip
    for i in range(tallies.shape[0]):
        given = law.copy()
        tally_of_law(given, users, size, keep, room, tallies[i], streams[0], streams[1])


@pytest.mark.parametrize("users", [1, 9, 400])
@pytest.mark.parametrize("size", [1, 2, 3, 5])
def test_a_batch_of_users_whose_items_have_a_law(size: int, users: int) -> None:
    """Two-sample χ² on cells and pairs, type-I error 1e-6; another law of items is rejected.

    A few users are drawn one by one, many are walked through the items together.
    """
    oracle, repeats = oracle_of(7, size), 3_000
    law = np.array([0.3, 0.0, 0.15, 0.05, 0.2, 0.3, 0.0])
    rng = np.random.default_rng(users)
    streams = rng.integers(0, 2**64, (2, 4), dtype=np.uint64)
    keep = float(oracle.keep)
    found, other = np.zeros((repeats, 7)), np.zeros((repeats, 7))
    _law_tallies(law, float(users), size, keep, room_for(7, size), streams, found)
    _law_tallies(law[::-1].copy(), float(users), size, keep, room_for(7, size), streams, other)
    held = rng.multinomial(users, law, repeats)
    source = InsecureSource(size)
    single = np.zeros((repeats, 7), dtype=np.int64)
    for item in range(7):
        reports = oracle.draw_many(item, int(held[:, item].sum()), source)
        owners = np.repeat(np.arange(repeats), held[:, item])
        np.add.at(single, owners, reports)
    assert np.all(found.sum(axis=1) == users * size)
    assert all_and_pairs(found, single) > TYPE_I
    assert all_and_pairs(other, single) < TYPE_I


MANY = 200
"""Items enough to be walked in blocks of 20, after they are halved to 100, 60 and 40 or 20."""
WALKED = 3000.0
"""Users enough to be walked through them, rather than drawn one by one."""


def some_columns(tallies: Array) -> Array:
    """Return sums over halves, blocks and part of one, and single items beside the edges."""
    parts = [(0, 100), (100, 200), (100, 140), (0, 20), (40, 60), (180, 200), (0, 8)]
    sums = [tallies[:, first:end].sum(axis=1) for first, end in parts]
    single = [tallies[:, i] for i in (0, 19, 20, 99, 100, MANY - 1)]
    return np.stack([*sums, *single], axis=1)


def test_many_items_are_walked_in_blocks() -> None:
    """Two-sample χ² on cells and pairs, type-I error 1e-6; independent binomials are rejected."""
    oracle, repeats, rng = oracle_of(MANY, 12), 1_500, np.random.default_rng(0)
    items = rng.multinomial(30, [0.3 if item in (99, 100) else 0.4 / 198 for item in range(MANY)])
    keep, chance = float(oracle.keep), float(oracle.chance)
    batch = np.array([subset_tally(items, 12, keep, rng) for _ in range(repeats)])
    assert np.all(batch.sum(axis=1) == 30 * 12)
    single = some_columns(one_by_one(oracle, items, repeats, seed=0))
    assert all_and_pairs(some_columns(batch), single) > TYPE_I
    cells = (repeats, MANY)
    mutant = rng.binomial(items, keep, cells) + rng.binomial(30 - items, chance, cells)
    assert all_and_pairs(some_columns(mutant), single) < TYPE_I


def test_users_whose_items_have_a_law_in_blocks() -> None:
    """Against the same users in groups so small that each is drawn on his own; as above.

    A law whose second block comes first is rejected.
    """
    oracle, repeats, rng = oracle_of(MANY, 12, "4"), 1_500, np.random.default_rng(1)
    law = rng.dirichlet(np.full(MANY, 0.3))
    streams, room = rng.integers(0, 2**64, (2, 4), dtype=np.uint64), room_for(MANY, 12)
    keep, groups = float(oracle.keep), 30
    batch, other = np.zeros((repeats, MANY)), np.zeros((repeats, MANY))
    single = np.zeros((repeats * groups, MANY))
    _law_tallies(law, WALKED, 12, keep, room, streams, batch)
    _law_tallies(np.roll(law, -20), WALKED, 12, keep, room, streams, other)
    _law_tallies(law, WALKED / groups, 12, keep, room, streams, single)
    assert np.all(batch.sum(axis=1) == WALKED * 12)
    reference = some_columns(single.reshape(repeats, groups, MANY).sum(axis=1))
    assert all_and_pairs(some_columns(batch), reference) > TYPE_I
    assert all_and_pairs(some_columns(other), reference) < TYPE_I


@jit
def _hypergeometric(good: float, bad: float, sample: float, stream: Array, draws: IntArray) -> None:
    for i in range(draws.size):
        draws[i] = hypergeometric(good, bad, sample, stream)


def _many(rng: np.random.Generator, good: int, bad: int, sample: int, count: int) -> IntArray:
    draws, stream = np.empty(count, dtype=np.int64), rng.integers(0, 2**64, 4, dtype=np.uint64)
    _hypergeometric(float(good), float(bad), float(sample), stream, draws)
    return draws


@pytest.mark.parametrize(
    ("good", "bad", "sample"),
    [(3, 5, 4), (12, 13, 12), (30, 50, 40), (300, 20, 200), (20, 300, 11), (4000, 6000, 5000)],
)
def test_hypergeometric_draws(good: int, bad: int, sample: int) -> None:
    """χ² at type-I error 1e-6; with one good one more they are rejected (or are all the same)."""
    draws = _many(np.random.default_rng(good), good, bad, sample, 400_000)
    law, mutant = (stats.hypergeom(good + bad, more, sample) for more in (good, good + 1))
    values = np.arange(max(0, sample - bad), min(good + 1, sample) + 1)
    assert fit(draws, values, law.pmf(values)) > TYPE_I
    if good < 1000:
        assert fit(draws, values, mutant.pmf(values)) < TYPE_I


def test_hypergeometric_draws_that_are_certain() -> None:
    rng = np.random.default_rng(0)
    for good, bad, sample, expected in ((5, 0, 3, 3), (0, 5, 3, 0), (7, 9, 16, 7), (7, 9, 0, 0)):
        assert set(_many(rng, good, bad, sample, 20).tolist()) == {expected}


WORLD = TabularMDP(
    np.array([[[0.4, 0.6], [0.5, 0.5]], [[0.7, 0.3], [0.2, 0.8]]]),
    np.array([[0.3, 0.6], [0.8, 0.5]]),
    horizon=2,
    initial=np.array([0.6, 0.4]),
)
POLICY = np.array([[0, 1], [1, 0]])
USERS = 5


def held(what: Observable, step: int, repeats: int, seed: int) -> IntArray:
    """Count, user by user, who holds which answer."""
    rng = np.random.default_rng(seed)
    counts = np.zeros((repeats, 2, 2, 2), dtype=np.int64)
    for repeat in range(repeats):
        for _ in range(USERS):
            trajectory = episode(WORLD, POLICY, rng)
            bit = int(rng.random() < trajectory.rewards[step])
            after = trajectory.states[step + 1] if step == 0 else 0
            counts[repeat, trajectory.states[step], bit, after] += 1
    if not what.tells_next:
        counts = counts.sum(axis=3)
    if not what.tells_reward:
        counts = counts.sum(axis=2)
    return counts.reshape(repeats, -1)


def matched(totals: TrueCounts) -> IntArray:
    """The mutant: those with a reward bit are those who went to the first states."""
    ones, moves = totals.rewards[0], totals.moves[0]
    first = np.minimum(moves[:, 0], ones)
    with_one = np.stack([first, ones - first], axis=1)
    result: IntArray = np.stack([moves - with_one, with_one], axis=1)
    return result


@pytest.mark.parametrize(
    ("what", "step"),
    [(Reward(), 0), (Reward(), 1), (Transition(), 0), (Joint(), 0), (Joint(), 1)],
    ids=str,
)
def test_answers_of_a_batch(what: Observable, step: int) -> None:
    """Against users one by one, type-I error 1e-6; bits tied to next states are rejected."""
    repeats, rng = 2000, np.random.default_rng(7)
    where = Partition.by_state(2)
    all_totals = [draw_true_counts(WORLD, POLICY, USERS, 1, rng) for _ in range(repeats)]
    batch = np.array([what.counts(totals, step, where, rng).ravel() for totals in all_totals])
    assert np.all(batch.sum(axis=1) == USERS)
    single = held(what, step, repeats, seed=8)
    assert all_and_pairs(batch, single) > TYPE_I
    if (what, step) == (Joint(), 0):
        mutant = np.array([matched(totals).ravel() for totals in all_totals])
        assert all_and_pairs(mutant, single) < TYPE_I
