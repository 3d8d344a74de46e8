"""The Gaussian mechanism: (ε, δ)-LDP (appendix F.1 of the paper)."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np

from ldprl.accounting.loss import LEAST_DELTA, LossPair, gaussian_delta, least_noise
from ldprl.accounting.noise_pairs import gaussian_pair
from ldprl.layout import Layout
from ldprl.mechanisms.additive import ApproximateNoise
from ldprl.mechanisms.error_laws import ErrorLaw, ErrorLaws, additive_error_laws
from ldprl.mechanisms.noise_table import NoiseTable, table_pairs, tables_delta, tables_of
from ldprl.mechanisms.row_laws import RowLaws, additive_laws
from ldprl.mechanisms.sampling import RandomSource, discrete_gaussian, generator_of
from ldprl.mechanisms.sensitivity import Block, l2_sensitivity_squared
from ldprl.shape import Array, FloatArray, IntArray

_VARIANCE_BITS = 12
"""Binary digits of σ²: rounding it up costs at most 1/2048 of it, and products fit 64 bits."""
_TAIL = 9.0
"""Tables end at this many standard deviations: what lies beyond has mass below 1e-18."""
_WIDE = 3
"""From this σ on a sum of n discrete Gaussians is drawn as one of variance nσ².

The two laws differ by a factor of at most exp(±10·n·e^{−π²σ²}) (Kairouz, Liu & Steinke 2021,
theorem 1), 1 ± 10⁻²⁵ for n = 10¹².
"""


class Gaussian(ApproximateNoise):
    """Adds Gaussian noise to R, N^r and N^p (algorithm 4).

    ``sound``: discrete Gaussian with the least σ for which the worst pair has exactly (ε, δ),
    drawn exactly. ``paper``: continuous with σ = cH/ε, c² = 4·ln(24/δ) as proposition 11 has it;
    the proof asks for ε ≤ 1, and at ε = 20 the δ that it really gives is near 1.
    """

    name = "gaussian"
    title = "Gaussian"
    colour = "#009e73"
    deployable = True
    least_delta = LEAST_DELTA
    summary = "discrete Gaussian noise on every counter; (ε, δ)"

    def choose_sound_noise(self) -> None:
        """Choose the least variance for which the worst pair has exactly (ε, δ)."""
        self.variance = _least_variance(self.layout, self.epsilon, self.delta)

    def choose_paper_noise(self) -> float:
        """Choose σ = cH/ε."""
        c = math.sqrt(4 * math.log(24 / self.delta))
        self.variance = Fraction((c * self.shape.horizon / self.epsilon) ** 2)
        return gaussian_delta(
            math.sqrt(l2_sensitivity_squared(self.layout)) / self.sigma, self.epsilon
        )

    @property
    def sigma(self) -> float:
        """Standard deviation of the noise, in units of a counter."""
        return math.sqrt(self.variance)

    @property
    def error_laws(self) -> ErrorLaws:
        """c_{k,i} of proposition 11.

        ``paper``: max{σ√((k−1)·ln(6SA/δ)), 1}, which lost the √2 of its proof and bounds S²A cells
        by a union over SA. ``sound``: σ√(2kt), t = ln(8SA/δ), and rounding's variance for rewards.
        """
        cells, states, sigma = self.shape.cells, self.shape.states, self.sigma
        if self.constants == "paper":
            cell = ErrorLaw(6 * cells, sigma, floor=1.0, lag=1)
            row = ErrorLaw(6 * cells, sigma * math.sqrt(states), floor=1.0, lag=1)
            return ErrorLaws(cell, cell, row, cell)
        rewards = sigma**2 + self.rounding_variance
        return additive_error_laws(self.shape, sigma**2, rewards=rewards)

    @property
    def noise_reach(self) -> int:
        """12 standard deviations: less than 10⁻³⁰ lies beyond."""
        return math.ceil(12 * self.sigma)

    def randomizer(self) -> dict[str, Any]:
        """Return the variance as a fraction."""
        variance = self.variance
        return {"numerator": str(variance.numerator), "denominator": str(variance.denominator)}

    def loss_pairs(self) -> list[LossPair]:
        """Return the worst pair's distance for continuous noise, else one pair for each counter."""
        if self.constants == "paper":
            return [gaussian_pair(math.sqrt(l2_sensitivity_squared(self.layout)) / self.sigma)]
        return table_pairs(self.layout, _tables(self.layout, self.variance))

    def counts_log_likelihood(self, reports: Array, counts: Array) -> FloatArray:
        """Return −Σ (report − counts)²/(2σ²)."""
        result: FloatArray = -((reports - counts) ** 2) @ (1 / self.layout.units() ** 2)
        return result / (2 * self.sigma**2)

    @property
    def row_laws(self) -> RowLaws:
        """Sub-Gaussian noise of variance σ² on every counter."""
        variance = float(self.variance)
        return additive_laws(self.shape, variance, variance, variance, 0.0)

    def privatize_counts(self, counts: Array, source: RandomSource) -> Array:
        """Add one draw of noise to each counter."""
        if self.constants == "paper":
            return counts + generator_of(source, self).normal(scale=self.sigma, size=counts.shape)
        return counts + self.layout.noise_for(
            counts, lambda unit, size: discrete_gaussian(source, self.variance * unit**2, size)
        )

    def sample_counts(self, counts: Array, users: int, rng: np.random.Generator) -> Array:
        """Add the sum of ``users`` draws: one Gaussian, or a multinomial over a small grid."""
        if self.constants == "paper":
            return counts + rng.normal(scale=self.sigma * math.sqrt(users), size=len(counts))
        units = self.layout.units()
        result = counts.copy()
        for unit in np.unique(units):
            variance = self.variance * int(unit) ** 2
            chosen = units == unit
            size = int(chosen.sum())
            if variance >= _WIDE**2:
                result[chosen] += _one_gaussian(users * float(variance), size, rng)
            else:
                result[chosen] += gaussian_table(variance).sample_sum(users, size, rng)
        return result

    def noise(self) -> Any:
        """Return the noise for compiled code."""
        from ldprl.kernels.noise import GaussianNoise
        from ldprl.kernels.table_noise import table_noise

        if self.constants == "paper":
            return GaussianNoise(self.sigma)
        units, table = np.unique(self.layout.units(), return_inverse=True)
        variances = [self.variance * int(unit) ** 2 for unit in units]
        wide = [float(one) if one >= _WIDE**2 else 0.0 for one in variances]
        return table_noise(self.layout, [gaussian_table(one) for one in variances], table, wide)


def _one_gaussian(variance: float, size: int, rng: np.random.Generator) -> IntArray:
    """Draw ``size`` integers x with P(x) ∝ e^{−x²/(2·variance)}, by rejection.

    Algorithm 3 of Canonne, Kamath & Steinke (2020) in floating point: for simulation only.
    """
    scale = math.floor(math.sqrt(variance)) + 1
    result = np.empty(size, dtype=np.int64)
    missing = np.arange(size)
    while missing.size:
        # The difference of two geometric laws is a discrete Laplace law.
        first, second = rng.geometric(-math.expm1(-1 / scale), (2, missing.size))
        result[missing] = first - second
        excess = np.abs(result[missing]) - variance / scale
        missing = missing[rng.standard_exponential(missing.size) * 2 * variance < excess**2]
    return result


@lru_cache
def gaussian_table(variance: Fraction) -> NoiseTable:
    """Return the discrete Gaussian as a table that ends where its mass is negligible."""
    sigma = math.sqrt(variance)
    radius = math.ceil(_TAIL * sigma) + 1
    points = np.arange(-radius, radius + 1, dtype=np.float64)
    return NoiseTable(np.exp(-(points**2) / (2 * float(variance))))


def _tables(layout: Layout, variance: Fraction) -> dict[Block, NoiseTable]:
    return tables_of(layout, lambda unit: gaussian_table(variance * unit**2))


def _on_grid(sigma: float) -> Fraction:
    """Round σ² up to 12 binary digits, so that exact sampling gets by with 64-bit integers."""
    _, exponent = math.frexp(sigma**2)
    unit = Fraction(2) ** (exponent - _VARIANCE_BITS)
    return math.ceil(Fraction(sigma**2) / unit) * unit


@lru_cache
def _least_variance(layout: Layout, epsilon: float, delta: float) -> Fraction:
    def exact_delta(sigma: float) -> float:
        return tables_delta(layout, _tables(layout, _on_grid(sigma)), epsilon)

    # Gaussian noise of the classical size is a safe place to start the search from.
    start = math.sqrt(l2_sensitivity_squared(layout) * 2 * math.log(1.25 / delta)) / epsilon
    return _on_grid(least_noise(exact_delta, delta, start))
