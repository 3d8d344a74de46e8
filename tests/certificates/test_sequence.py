"""The confidence sequence covers at all times, and a fixed-time interval does not."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest

from ldprl.certificates.sequence import (
    Bits,
    _upper,
    difference_interval,
    log_evidence,
    mean_interval,
)
from ldprl.errors import InputError
from ldprl.shape import Array, FloatArray, IntArray

RUNS = 500
FAILURE = 0.05
MOST_FAILURES = 52
"""P(Binomial(500, 0.05) > 52) < 1e-6: the type-I error of each coverage test."""
TIMES = np.unique(np.geomspace(1, 30_000, 150).astype(np.int64))

Chance = Callable[[int, IntArray], FloatArray]
"""From the number of bits so far and each run's ones to each run's next q."""


def steady(_: int, ones: IntArray) -> FloatArray:
    return np.full(len(ones), 0.3)


def drifting(users: int, ones: IntArray) -> FloatArray:
    """A world that changes: half the runs start at once with a jump, half swing slowly."""
    swing = 0.5 + 0.4 * math.sin(math.log(users + 1))
    return np.where(np.arange(len(ones)) % 2, swing, 0.1 if users < 1000 else 0.9)


def hostile(users: int, ones: IntArray) -> FloatArray:
    """Users who have seen all answers, and push the sum away from what it was expected to be."""
    return np.where(ones > 0.5 * users, 0.95, 0.5)


def paths(chance: Chance, rng: np.random.Generator) -> tuple[IntArray, FloatArray]:
    """Return the ones of each run at TIMES, and the mean of the q_i up to there."""
    ones, expected = np.zeros(RUNS, dtype=np.int64), np.zeros(RUNS)
    counts, means = [], []
    before = 0
    for now in TIMES.tolist():
        q = chance(before, ones)
        ones = ones + rng.binomial(now - before, q)
        expected = expected + (now - before) * q
        counts.append(ones)
        means.append(expected / now)
        before = now
    return np.array(counts), np.array(means)


def failing(outside: Array) -> int:
    """Return how many runs were outside at some time."""
    return int(outside.any(axis=0).sum())


@pytest.mark.parametrize("chance", [steady, drifting, hostile])
def test_it_covers_at_all_times_and_a_fixed_time_interval_does_not(chance: Chance) -> None:
    """Outside is evidence of at least 1/α. The mutant is the normal interval at the same level."""
    ones, means = paths(chance, np.random.default_rng(1))
    users = TIMES[:, None]
    assert failing(log_evidence(users, ones, means) >= -math.log(FAILURE)) <= MOST_FAILURES
    spread = np.sqrt(means * (1 - means) / users)
    assert failing(np.abs(ones / users - means) > 1.96 * spread) > 2 * MOST_FAILURES


def test_it_covers_the_difference_of_two_policies_while_the_world_drifts() -> None:
    """One policy drifts, the other's users respond to earlier answers; the product is the evidence.

    The mutant takes two intervals that hold one at a time, at one time.
    """
    rng, users = np.random.default_rng(2), TIMES[:, None]
    (first, first_mean), (second, second_mean) = paths(drifting, rng), paths(hostile, rng)
    both = log_evidence(users, first, first_mean) + log_evidence(users, second, second_mean)
    assert failing(both >= -math.log(FAILURE)) <= MOST_FAILURES
    error = (first - second) / users - (first_mean - second_mean)
    variance = first_mean * (1 - first_mean) + second_mean * (1 - second_mean)
    assert failing(np.abs(error) > 1.96 * np.sqrt(variance / users)) > 2 * MOST_FAILURES


@pytest.mark.parametrize("bits", [Bits(40, 11), Bits(1000, 998), Bits(7, 0), Bits(10**8, 10**7)])
def test_the_ends_of_an_interval_are_where_the_evidence_is_enough(bits: Bits) -> None:
    found = mean_interval(bits, FAILURE)
    assert 0 <= found.low <= bits.mean <= found.high <= 1
    for end, outwards in ((found.low, -1), (found.high, 1)):
        if 0 < end < 1:
            evidence = log_evidence(bits.users, bits.ones, end)
            assert evidence == pytest.approx(-math.log(FAILURE), abs=1e-4)
            further = log_evidence(bits.users, bits.ones, end + outwards * 1e-5)
            assert further > -math.log(FAILURE)


@pytest.mark.parametrize(
    ("first", "second"), [((30, 20), (50, 10)), ((400, 390), (12, 3)), ((0, 0), (200, 100))]
)
def test_the_difference_is_the_farthest_that_both_allow(
    first: tuple[int, int], second: tuple[int, int]
) -> None:
    """Against every pair of a fine grid."""
    grid = np.linspace(0, 1, 2001)
    allowed = log_evidence(*first, grid)[:, None] + log_evidence(*second, grid) <= -math.log(
        FAILURE
    )
    gaps = (grid[:, None] - grid)[allowed]
    found = difference_interval(Bits(*first), Bits(*second), FAILURE)
    assert (found.low, found.high) == pytest.approx((gaps.min(), gaps.max()), abs=1e-3)
    assert found.low <= gaps.min()
    assert gaps.max() <= found.high


def most_apart(first: Bits, second: Bits) -> float:
    """Return the largest q − q' by trying many ways to split ln(1/α) between the two."""
    least = [float(log_evidence(one.users, one.ones, one.mean)) for one in (first, second)]
    shares = 1 / (1 + np.exp(-np.linspace(-12, 12, 150)))
    spare = -math.log(FAILURE) - sum(least)
    return max(
        _upper(first, least[0] + share * spare)
        - (1 - _upper(second.flipped, least[1] + (1 - share) * spare))
        for share in shares.tolist()
    )


@pytest.mark.parametrize(
    ("first", "second"),
    [((30, 20), (50, 10)), ((669, 230), (3726343, 2103415)), ((8, 0), (930169, 405561)),
     ((9267503, 1987969), (357, 216)), ((10**7, 10**6), (2 * 10**6, 10**6))],
)  # fmt: skip
def test_the_difference_leaves_nothing_out(first: tuple[int, int], second: tuple[int, int]) -> None:
    """Nothing that both allow lies outside, and not more is inside than by a thousandth."""
    one, other = Bits(*first), Bits(*second)
    found, observed = difference_interval(one, other, FAILURE), one.mean - other.mean
    for end, most in ((found.high, most_apart(one, other)), (-found.low, most_apart(other, one))):
        middle = observed if end == found.high else -observed
        # The means of the split are themselves rounded outwards, by 2⁻⁴⁰ each.
        assert most - 2**-38 <= end <= most + 2e-3 * (most - middle)


def test_no_bits_say_nothing_and_too_many_ones_are_refused() -> None:
    none = Bits(0, 0)
    assert (mean_interval(none, 0.05).low, mean_interval(none, 0.05).high) == (0, 1)
    apart = difference_interval(none, none, 0.05)
    assert (apart.low, apart.high) == (-1, 1)
    with pytest.raises(InputError, match=r"ones = 3: expected a whole number from 0 to 2"):
        Bits(2, 3)
