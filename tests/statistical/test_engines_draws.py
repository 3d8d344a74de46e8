"""The kernels' own samplers have the laws they are named after."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numba
import numpy as np
import pytest
from scipy import stats

from ldprl.kernels import draws, generator
from ldprl.mechanisms.gaussian import gaussian_table
from ldprl.shape import Array, FloatArray
from tests.statistical.checks import TYPE_I, fit, together

jit: Any = numba.njit
DRAWS = 200_000
BINOMIAL, POISSON, NEGATIVE_BINOMIAL, DISCRETE_GAUSSIAN, NORMAL, GAMMA, EXPONENTIAL = range(7)


@jit
def draw(law: int, a: float, b: float, stream: Array, out: FloatArray) -> None:
    for i in range(out.size):
        if law == BINOMIAL:
            out[i] = draws.binomial(a, b, stream)
        elif law == POISSON:
            out[i] = draws.poisson(a, stream)
        elif law == NEGATIVE_BINOMIAL:
            out[i] = draws.negative_binomial(a, b, stream)
        elif law == DISCRETE_GAUSSIAN:
            out[i] = draws.discrete_gaussian(a, stream)
        elif law == NORMAL:
            out[i] = draws.normal(stream)
        elif law == GAMMA:
            out[i] = draws.gamma(a, stream)
        else:
            out[i] = draws.exponential(stream)


def sample(law: int, a: float = 0.0, b: float = 0.0, seed: int = 1) -> FloatArray:
    stream = np.random.SeedSequence([seed, law]).generate_state(4, np.uint64)
    out = np.empty(DRAWS)
    draw(law, a, b, stream, out)
    return out


def whole_fit(found: FloatArray, pmf: Callable[[Array], FloatArray]) -> float:
    assert (found == np.rint(found)).all()
    values = np.arange(int(found.min()), int(found.max()) + 1)
    return fit(found.astype(np.int64), values, pmf(values))


@pytest.mark.parametrize(
    ("trials", "chance"),
    [
        (1, 0.3),
        (7, 0.5),
        (50, 0.012),
        (40, 0.3),
        (60, 0.9),
        (1000, 0.01),
        (1000, 0.5),
        (10**5, 0.7),
    ],
)
def test_binomial(trials: int, chance: float) -> None:
    """χ² against the exact law, type-I error ≤ 1e-6; the mutant's chance is 2% off."""
    found = sample(BINOMIAL, trials, chance)
    assert whole_fit(found, stats.binom(trials, chance).pmf) >= TYPE_I
    if trials > 1:
        assert whole_fit(found, stats.binom(trials, 0.98 * chance).pmf) < TYPE_I


@pytest.mark.parametrize("mean", [0.1, 3.0, 9.9, 10.0, 40.0, 3e4])
def test_poisson(mean: float) -> None:
    """χ² against the exact law, type-I error ≤ 1e-6; the mutant's mean is 5% off."""
    found = sample(POISSON, mean)
    assert whole_fit(found, stats.poisson(mean).pmf) >= TYPE_I
    assert whole_fit(found, stats.poisson(1.05 * mean).pmf) < TYPE_I


@pytest.mark.parametrize(("count", "odds"), [(1, 0.4), (1, 20.0), (3, 5.0), (200, 12.0)])
def test_negative_binomial(count: int, odds: float) -> None:
    """χ² against the exact law, type-I error ≤ 1e-6; the mutant has the mean of count + 1."""
    found = sample(NEGATIVE_BINOMIAL, count, odds)
    assert whole_fit(found, stats.nbinom(count, 1 / (1 + odds)).pmf) >= TYPE_I
    assert whole_fit(found, stats.nbinom(count + 1, 1 / (1 + odds)).pmf) < TYPE_I


@pytest.mark.parametrize("variance", [0.25, 2.0, 9.0, 400.0])
def test_discrete_gaussian(variance: float) -> None:
    """χ² against the exact law, type-I error ≤ 1e-6; the mutant's variance is 5% off."""

    def law(spread: float) -> Callable[[Array], FloatArray]:
        reach = np.arange(-2000, 2001)
        total = np.exp(-(reach**2) / (2 * spread)).sum()
        return lambda values: np.exp(-(values.astype(np.float64) ** 2) / (2 * spread)) / total

    found = sample(DISCRETE_GAUSSIAN, variance)
    assert whole_fit(found, law(variance)) >= TYPE_I
    assert whole_fit(found, law(1.05 * variance)) < TYPE_I


@pytest.mark.parametrize(
    ("law", "shape", "truth"),
    [
        (NORMAL, 0.0, stats.norm()),
        (EXPONENTIAL, 0.0, stats.expon()),
        (GAMMA, 0.1, stats.gamma(0.1)),
        (GAMMA, 1.0, stats.gamma(1.0)),
        (GAMMA, 2.5, stats.gamma(2.5)),
        (GAMMA, 1e6, stats.gamma(1e6)),
    ],
)
def test_continuous_laws(law: int, shape: float, truth: stats.rv_continuous) -> None:
    """Kolmogorov–Smirnov, type-I error ≤ 1e-6; the mutant is spread 3% wider."""
    found = sample(law, shape)
    centre = float(truth.mean())
    assert stats.kstest(found, truth.cdf).pvalue >= TYPE_I
    assert stats.kstest(centre + 1.03 * (found - centre), truth.cdf).pvalue < TYPE_I


@pytest.mark.parametrize("law", [BINOMIAL, POISSON])
def test_large_numbers_have_the_right_mean_and_variance(law: int) -> None:
    """At 10¹² a count differs from a normal number by 10⁻⁶ of its spread.

    z-tests of mean and variance, type-I error ≤ 1e-6 together.
    """
    size = 1e12
    spread = math.sqrt(size * 0.21) if law == BINOMIAL else math.sqrt(size)
    mean = 0.3 * size if law == BINOMIAL else size
    z = (sample(law, size, 0.3) - mean) / spread
    off = [abs(z.mean()) * math.sqrt(DRAWS), abs(z.var() - 1) * math.sqrt(DRAWS / 2)]
    assert together([2 * stats.norm.sf(value) for value in off]) >= TYPE_I
    assert stats.kstest(z, stats.norm.cdf).pvalue >= TYPE_I


@jit
def blocks(stream: Array, words: Array, uniform: Array, laplace: Array, normal: Array) -> None:
    generator.fill_words(stream, words)
    generator.fill_uniform(words, uniform)
    generator.fill_laplace(words, laplace)
    generator.fill_normal(words, normal)


def test_noise_in_blocks() -> None:
    """Kolmogorov–Smirnov for each law, type-I error ≤ 1e-6 in all; mutants are spread 3% wider."""
    size = 400 * 1024
    stream = np.random.SeedSequence(3).generate_state(4, np.uint64)
    words, out = np.empty(size, dtype=np.uint64), np.empty((3, size))
    blocks(stream, words, out[0], out[1], out[2])
    laws = (stats.uniform, stats.laplace, stats.norm)
    assert len(np.unique(words)) == size
    fits = [float(stats.kstest(x, law.cdf).pvalue) for x, law in zip(out, laws, strict=True)]
    assert together(fits) >= TYPE_I
    for x, law in zip(out[1:], laws[1:], strict=True):
        assert stats.kstest(1.03 * x, law.cdf).pvalue < TYPE_I
    # Both halves of a block of normal numbers come from the same pairs: still no correlation.
    left, right = out[2, : size // 2], out[2, size // 2 :]
    for one, two in ((left, right), (left**2, right**2)):
        correlation = float(np.corrcoef(one, two)[0, 1])
        assert 2 * stats.norm.sf(abs(correlation) * math.sqrt(size // 2)) >= TYPE_I


@jit
def logs(values: FloatArray, out: FloatArray) -> None:
    for i in range(values.size):
        out[i] = generator.log_of(values[i])


def test_logarithm_is_that_of_the_library() -> None:
    rng = np.random.default_rng(0)
    values = np.concatenate([rng.random(10**5), np.exp(rng.uniform(-300, 300, 10**5)), [1.0, 0.5]])
    found = np.empty_like(values)
    logs(values, found)
    np.testing.assert_allclose(found, np.log(values), rtol=4e-16, atol=1e-16)


@jit
def exponentials(values: FloatArray, out: FloatArray) -> None:
    for i in range(values.size):
        out[i] = generator.exp_of(values[i])


def test_exponential_is_that_of_the_library() -> None:
    values = np.concatenate([np.random.default_rng(0).uniform(-700, 700, 10**5), [0.0, 1e-300]])
    found = np.empty_like(values)
    exponentials(values, found)
    np.testing.assert_allclose(found, np.exp(values), rtol=1e-15)


def test_a_sum_of_discrete_gaussians_is_one() -> None:
    """From σ = 3 on, the sum of two has the law of variance 2σ² to the last digit."""
    law = gaussian_table(Fraction(9)).pmf
    both = np.convolve(law, law)
    wide = gaussian_table(Fraction(18)).pmf
    centre, reach = len(both) // 2, len(wide) // 2
    np.testing.assert_allclose(both[centre - reach : centre + reach + 1], wide, atol=1e-17)
    narrow = gaussian_table(Fraction(1, 4)).pmf
    pair = np.convolve(narrow, narrow)
    assert abs(pair[len(pair) // 2] - gaussian_table(Fraction(1, 2)).pmf.max()) > 1e-4
