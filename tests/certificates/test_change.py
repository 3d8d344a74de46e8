"""A change is noticed, and where there is none hardly ever anything is said, however often."""

from __future__ import annotations

import math

import numpy as np
import pytest

from ldprl.certificates import Bits, changed_at
from ldprl.certificates.change import split_evidence
from ldprl.certificates.sequence import log_evidence
from ldprl.errors import InputError
from ldprl.shape import Array, FloatArray, IntArray

RUNS = 500
FAILURE = 0.05
MOST_ALARMS = 52
"""P(Binomial(500, 0.05) > 52) < 1e-6: the type-I error of the test."""
BLOCKS = 16


def steady(rng: np.random.Generator) -> tuple[IntArray, IntArray]:
    """Return bits and ones of each run and block, where nothing changes."""
    users = np.geomspace(50, 2000, BLOCKS).astype(np.int64)
    return np.broadcast_to(users, (RUNS, BLOCKS)), rng.binomial(users, 0.3, (RUNS, BLOCKS))


def alarms(users: IntArray, ones: IntArray, failure: float) -> Array:
    """Return which runs have the alarm at some time, when looked at after every fourth block."""
    found: Array = np.zeros(len(users), dtype=bool)
    for seen in range(4, users.shape[1] + 1, 4):
        terms = split_evidence(users[:, :seen], ones[:, :seen])
        found |= np.logaddexp.reduce(terms, axis=-1) >= -math.log(failure)
    return found


def z_scores(users: IntArray, ones: IntArray) -> FloatArray:
    """Return the usual test of two means, for each place between blocks."""
    n, s = users.cumsum(axis=-1), ones.cumsum(axis=-1)
    before, after = n[:, :-1], n[:, -1:] - n[:, :-1]
    gap = s[:, :-1] / before - (s[:, -1:] - s[:, :-1]) / after
    mean = s[:, -1:] / n[:, -1:]
    scores: FloatArray = gap / np.sqrt(mean * (1 - mean) * (1 / before + 1 / after))
    return scores


def test_without_a_change_alarms_are_as_rare_as_stated_and_a_fixed_time_test_is_not() -> None:
    """The mutant is the test of two means at the same level, at the same times."""
    users, ones = steady(np.random.default_rng(1))
    assert alarms(users, ones, FAILURE).sum() <= MOST_ALARMS
    looks = [z_scores(users[:, :k], ones[:, :k]) for k in range(4, BLOCKS + 1, 4)]
    fixed = np.concatenate(looks, axis=1)
    assert (np.abs(fixed) > 1.96).any(axis=1).sum() > 4 * MOST_ALARMS


def test_a_change_of_a_tenth_is_noticed_within_3500_answers() -> None:
    """As docs/drift.md states it: ε = 2, 20 blocks of 500 before the change, alarm 0.01.

    At least 95% of 500 runs; less than 450 would be seen with probability below 1e-6.
    """
    rng, keep = np.random.default_rng(2), math.e**2 / (1 + math.e**2)
    worth = np.array([0.55] * 20 + [0.45] * 7)
    chance = 1 - keep + (2 * keep - 1) * worth
    users = np.full((RUNS, 27), 500)
    terms = split_evidence(users, rng.binomial(500, chance, (RUNS, 27)))
    noticed = np.logaddexp.reduce(terms, axis=-1) >= -math.log(0.01)
    assert noticed.sum() >= 450
    # Where it is looked for: within two blocks, in nine of ten runs.
    near = np.abs(terms.argmax(axis=-1) + 1 - 20) <= 2
    assert near[noticed].mean() > 0.9


@pytest.mark.parametrize(
    "blocks", [[(40, 11), (30, 20)], [(10**8, 10**7), (10**6, 10**5)], [(9, 9), (0, 0)]]
)
def test_each_term_is_the_least_over_all_means(blocks: list[tuple[int, int]]) -> None:
    """Never above the least of a fine grid, and close to it."""
    (early, late), total = blocks, sum(n for n, _ in blocks)
    center = sum(s for _, s in blocks) / total
    grid = np.unique(np.clip(center + np.linspace(-1, 1, 20_001) * 30 / math.sqrt(total), 0, 1))
    least = (log_evidence(*early, grid) + log_evidence(*late, grid)).min()
    (found,) = split_evidence(*np.array(blocks).T) + math.log(2)
    assert least - 1e-3 < found <= least + 1e-9


def test_the_places_of_a_change_share_the_failure() -> None:
    """The j-th has the weight 1/(j(j + 1)): without any bits there is no other evidence."""
    none = np.zeros(8, dtype=np.int64)
    weights = np.exp(split_evidence(none, none))
    places = np.arange(1, 8)
    assert weights == pytest.approx(1 / (places * (places + 1)), abs=1e-9)
    assert weights.sum() <= 1


def test_answers_that_come_late_count_where_their_policy_was_handed_out() -> None:
    blocks = [Bits(500, 400), Bits(500, 390), Bits(300, 90)]
    assert changed_at(blocks, 0.01) == 2
    assert changed_at(blocks[:2], 0.01) is None
    late = [blocks[0], blocks[1] + Bits(900, 270), blocks[2]]
    assert changed_at(late, 0.01) == 1


def test_an_alarm_needs_all_the_evidence_that_its_level_asks_for() -> None:
    blocks = [Bits(500, 400), Bits(500, 390), Bits(300, 90)]
    users, ones = np.array([(one.users, one.ones) for one in blocks]).T
    level = math.exp(-np.logaddexp.reduce(split_evidence(users, ones)))
    assert changed_at(blocks, 1.001 * level) == 2
    assert changed_at(blocks, 0.999 * level) is None


def test_nothing_is_said_of_one_block_and_a_level_is_checked() -> None:
    assert changed_at([], 0.5) is None
    assert changed_at([Bits(10, 3)], 0.5) is None
    with pytest.raises(InputError, match="failure = 0"):
        changed_at([Bits(10, 3)], 0)
