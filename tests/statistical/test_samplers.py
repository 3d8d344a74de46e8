"""The exact samplers have the laws that they state."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from ldprl.mechanisms.sampling import (
    InsecureSource,
    RandomSource,
    SystemSource,
    bernoulli_exp,
    discrete_gaussian,
    discrete_laplace,
    flip_threshold,
    from_table,
    round_to_grid,
)
from ldprl.shape import FloatArray, IntArray
from tests.statistical.checks import TYPE_I, at_most, fit, same_law

DRAWS = 40_000
SCALES = [Fraction(1, 3), Fraction(5, 2), Fraction(10)]
# Numerators on both sides of what 64-bit arithmetic holds.
LONG_SCALES = [Fraction(top + 1, top // 10) for top in (10**15, 4 * 10**18, 10**25)]
VARIANCES = [Fraction(1, 4), Fraction(7, 3), Fraction(95), Fraction(10**12 + 1, 10**11)]


def laplace_law(scale: float) -> tuple[IntArray, FloatArray]:
    reach = math.ceil(40 * scale) + 1
    values = np.arange(-reach, reach + 1)
    decay = math.exp(-1 / scale)
    return values, (1 - decay) / (1 + decay) * np.exp(-np.abs(values) / scale)


def gaussian_law(variance: float) -> tuple[IntArray, FloatArray]:
    reach = math.ceil(12 * math.sqrt(variance)) + 1
    values = np.arange(-reach, reach + 1)
    weights = np.exp(-(values**2) / (2 * variance))
    return values, weights / weights.sum()


@pytest.mark.parametrize("scale", SCALES + LONG_SCALES, ids=str)
def test_discrete_laplace(scale: Fraction) -> None:
    """χ² at type-I error 1e-6; noise of 9/10 the scale is rejected."""
    draws = discrete_laplace(InsecureSource(1), scale, DRAWS)
    assert fit(draws, *laplace_law(float(scale))) > TYPE_I
    assert fit(draws, *laplace_law(2 * float(scale))) < TYPE_I
    assert fit(draws, *laplace_law(0.9 * float(scale))) < TYPE_I


@pytest.mark.parametrize("variance", VARIANCES, ids=str)
def test_discrete_gaussian(variance: Fraction) -> None:
    """χ² at type-I error 1e-6; noise of 4/5 the variance is rejected."""
    draws = discrete_gaussian(InsecureSource(2), variance, DRAWS)
    assert fit(draws, *gaussian_law(float(variance))) > TYPE_I
    assert fit(draws, *gaussian_law(2 * float(variance))) < TYPE_I
    assert fit(draws, *gaussian_law(0.8 * float(variance))) < TYPE_I


@pytest.mark.slow
@pytest.mark.parametrize("scale", SCALES, ids=str)
def test_samplers_agree_with_opendp(scale: Fraction) -> None:
    """Two-sample χ² at type-I error 1e-6 against OpenDP's samplers; twice its scale is rejected.

    OpenDP draws from the operating system, so here the data change from run to run.
    """
    dp = pytest.importorskip("opendp.prelude")
    dp.enable_features("contrib")
    domain = dp.vector_domain(dp.atom_domain(T=int))
    laplace = discrete_laplace(InsecureSource(3), scale, DRAWS)
    gaussian = discrete_gaussian(InsecureSource(4), scale**2, DRAWS)
    for ours, make, distance in (
        (laplace, dp.m.make_laplace, dp.l1_distance(T=int)),
        (gaussian, dp.m.make_gaussian, dp.l2_distance(T=int)),
    ):
        theirs = make(domain, distance, scale=float(scale))([0] * DRAWS)
        wider = make(domain, distance, scale=2 * float(scale))([0] * DRAWS)
        assert same_law(ours, theirs) > TYPE_I
        assert same_law(ours, wider) < TYPE_I


@pytest.mark.parametrize("denominator", [35, 35 * 10**20])
def test_bernoulli_exp(denominator: int) -> None:
    """χ² at type-I error 1e-6, within and beyond 64 bits; e^{−γ/2} is rejected."""
    integer = np.int64 if denominator < 2**63 else np.object_
    source = InsecureSource(5)
    for gamma in (Fraction(1, 7), Fraction(1), Fraction(13, 5), Fraction(5)):
        numerator = int(gamma * denominator)
        draws = bernoulli_exp(source, np.full(DRAWS, numerator, dtype=integer), denominator)
        chance, mutant = math.exp(-gamma), math.exp(-gamma / 2)
        assert fit(draws.astype(int), [0, 1], [1 - chance, chance]) > TYPE_I
        assert fit(draws.astype(int), [0, 1], [1 - mutant, mutant]) < TYPE_I
    assert bernoulli_exp(source, np.zeros(100, dtype=integer), denominator).all()


@pytest.mark.parametrize("bound", [2, 3, 10, 256, 257])
def test_below_is_uniform(bound: int) -> None:
    """χ² at type-I error 1e-6, one by one and many at once; a byte modulo 10 is rejected."""
    source = InsecureSource(6)
    values, even = np.arange(bound), np.full(bound, 1 / bound)
    one_by_one = np.array([source.below(bound) for _ in range(DRAWS // 4)])
    for draws in (one_by_one, source.below_many(bound, DRAWS)):
        assert 0 <= draws.min() <= draws.max() < bound
        assert fit(draws, values, even) > TYPE_I
    if bound == 10:
        careless = np.frombuffer(source.random_bytes(50 * DRAWS), dtype=np.uint8) % bound
        assert fit(careless.astype(np.int64), values, even) < TYPE_I


class Scripted(RandomSource):
    """Bytes in a given order."""

    def __init__(self, *words: int) -> None:
        self.left = b"".join(word.to_bytes(4, "little") for word in words)

    def random_bytes(self, count: int) -> bytes:
        found, self.left = self.left[:count], self.left[count:]
        assert len(found) == count
        return found


def test_words_that_would_make_some_results_likelier_are_drawn_again() -> None:
    """x = 0 makes 0 below 3 likelier than 1 and 2; below 2³¹ + 1 nearly every second word does."""
    source = Scripted(0, 2**31, 0, 0, 2**32 - 1, 0)
    assert source.below_many(3, 2).tolist() == [2, 1]
    assert source.left == b""
    assert Scripted(2, 0, 5, 0).below_many(2**31 + 1, 1).tolist() == [2]


def test_below_one_is_zero() -> None:
    source = InsecureSource(7)
    assert source.below(1) == 0
    assert not source.below_many(1, 10).any()


@pytest.mark.parametrize("bound", [2**63 - 1, 2**63, 2**63 + 1, 2**64, 2**100 + 1])
def test_below_works_up_to_64_bits_and_beyond(bound: int) -> None:
    """Both halves are hit alike (binomial, type-I error 1e-6), and no value is out of range."""
    source = InsecureSource(8)
    draws = [source.below(bound) for _ in range(1000)] + source.below_many(bound, 1000).tolist()
    assert all(0 <= value < bound for value in draws)
    upper = sum(value >= bound // 2 for value in draws)
    assert at_most(upper, len(draws), 0.5) > TYPE_I
    assert at_most(len(draws) - upper, len(draws), 0.5) > TYPE_I


def test_from_table_keeps_the_weights() -> None:
    """χ² at type-I error 1e-6, a weight of 0 among them; equal weights are rejected."""
    weights = np.array([3, 0, 1, 6])
    draws = from_table(InsecureSource(9), np.cumsum(weights), DRAWS)
    assert not np.any(draws == 1)
    assert fit(draws, np.arange(4), weights / 10) > TYPE_I
    assert fit(draws, np.arange(4), np.full(4, 0.25)) < TYPE_I


@pytest.mark.parametrize(("value", "resolution"), [(0.3, 1), (0.3, 4), (0.99, 4)])
def test_round_to_grid_keeps_the_mean(value: float, resolution: int) -> None:
    """χ² at type-I error 1e-6 between the two neighbours; even odds are rejected."""
    source = InsecureSource(10)
    draws = [round_to_grid(source, value, resolution) for _ in range(DRAWS // 4)]
    low = math.floor(value * resolution)
    rest = value * resolution - low
    assert fit(draws, [low, low + 1], [1 - rest, rest]) > TYPE_I
    assert fit(draws, [low, low + 1], [0.5, 0.5]) < TYPE_I


@pytest.mark.parametrize("value", [0.0, 0.25, 0.5, 1.0])
def test_round_to_grid_leaves_grid_points_alone(value: float) -> None:
    source = InsecureSource(11)
    assert {round_to_grid(source, value, 4) for _ in range(100)} == {round(4 * value)}


@pytest.mark.parametrize("source", [InsecureSource(12), SystemSource()])
def test_words_flip_bits_as_often_as_stated(source: RandomSource) -> None:
    """χ² at type-I error 1e-6 for both sources; a flip of twice the odds is rejected."""
    threshold = flip_threshold(Fraction(3, 2))
    flips = (source.words(5 * DRAWS) < np.uint64(threshold)).astype(np.int64)
    chance = 1 / (math.exp(1.5) + 1)
    mutant = 2 / (math.exp(1.5) + 2)
    assert fit(flips, [0, 1], [1 - chance, chance]) > TYPE_I
    assert fit(flips, [0, 1], [1 - mutant, mutant]) < TYPE_I


def test_seeded_sources_repeat_and_the_systems_does_not() -> None:
    first, again, other = (InsecureSource(seed) for seed in (1, 1, 2))
    assert first.random_bytes(32) == again.random_bytes(32) != other.random_bytes(32)
    system = SystemSource()
    assert system.random_bytes(32) != system.random_bytes(32)
    assert [system.below(2**64) for _ in range(3)] != [system.below(2**64) for _ in range(3)]
