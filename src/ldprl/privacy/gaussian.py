"""The Gaussian mechanism: (ε, δ)-LDP (appendix F.1 of the paper)."""

from __future__ import annotations

import math
import warnings
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from ldprl.errors import positive, probability
from ldprl.privacy.accounting import gaussian_delta, least_noise
from ldprl.privacy.layout import Layout
from ldprl.privacy.mechanism import (
    Constants,
    CountingMechanism,
    ErrorLaw,
    ErrorLaws,
    Guarantee,
    PrivacyWarning,
)
from ldprl.privacy.sampling import discrete_gaussian, generator_of
from ldprl.privacy.sensitivity import Block, l2_sensitivity_squared
from ldprl.privacy.table import NoiseTable, tables_delta
from ldprl.shape import Array, Shape

if TYPE_CHECKING:
    from ldprl.privacy.sampling import RandomSource

_VARIANCE_BITS = 20
_TAIL = 9.0
"""Tables end at this many standard deviations: what lies beyond has mass below 1e-18."""


class Gaussian(CountingMechanism):
    """Adds Gaussian noise to R, N^r and N^p (algorithm 4).

    ``sound``: discrete Gaussian with the least σ for which the worst pair has exactly (ε, δ),
    drawn exactly. ``paper``: continuous with σ = cH/ε, c² = 4·ln(24/δ) as proposition 11 has it;
    the proof asks for ε ≤ 1, and at ε = 20 the δ that it really gives is near 1.
    """

    name = "gaussian"
    summary = "discrete Gaussian noise on every counter; (ε, δ)"

    def __init__(
        self,
        shape: Shape,
        epsilon: float,
        delta: float,
        *,
        constants: Constants = "sound",
        squares: bool = False,
        resolution: int = 1,
        policy_aware: bool | None = None,
    ) -> None:
        self.epsilon = positive("epsilon", epsilon)
        self.delta = probability("delta", delta, zero=False)
        super().__init__(
            shape,
            constants=constants,
            squares=squares,
            resolution=resolution if constants == "sound" else None,
            policy_aware=policy_aware,
        )
        if constants == "sound":
            self.variance = _least_variance(self.layout, self.epsilon, self.delta)
            self._guarantee = Guarantee(self.epsilon, self.delta)
            return
        c = math.sqrt(4 * math.log(24 / self.delta))
        self.variance = Fraction((c * shape.horizon / self.epsilon) ** 2)
        ratio = math.sqrt(l2_sensitivity_squared(self.layout)) / self.sigma
        exact = gaussian_delta(ratio, self.epsilon)
        self._guarantee = Guarantee(self.epsilon, exact)
        if exact > self.delta:
            message = f"the paper's Gaussian noise claims δ = {self.delta:g} at ε = {epsilon:g}"
            warnings.warn(f"{message}; its exact δ is {exact:.4g}", PrivacyWarning, stacklevel=2)

    @property
    def sigma(self) -> float:
        """Standard deviation of the noise, in units of a counter."""
        return math.sqrt(self.variance)

    @property
    def guarantee(self) -> Guarantee:
        """(ε, δ); with ``paper`` constants δ is the exact one, not the one claimed."""
        return self._guarantee

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
        variance = sigma**2
        return ErrorLaws(
            rewards=ErrorLaw(8 * cells, math.sqrt(2 * (variance + self.rounding_variance))),
            visits=ErrorLaw(8 * cells, math.sqrt(2 * variance)),
            departures=ErrorLaw(8 * cells, math.sqrt(2 * variance * states)),
            transitions=ErrorLaw(8 * cells * states, math.sqrt(2 * variance)),
        )

    def privatize_counts(self, counts: Array, source: RandomSource) -> Array:
        """Add one draw of noise to each counter."""
        if self.constants == "paper":
            return counts + generator_of(source, self).normal(scale=self.sigma, size=len(counts))
        units = self.layout.units()
        noise = [discrete_gaussian(source, self.variance * int(unit) ** 2) for unit in units]
        return counts + np.array(noise, dtype=np.int64)

    def sample_counts(self, counts: Array, users: int, rng: np.random.Generator) -> Array:
        """Add the sum of ``users`` draws: one Gaussian, or a multinomial over the grid."""
        if self.constants == "paper":
            return counts + rng.normal(scale=self.sigma * math.sqrt(users), size=len(counts))
        units = self.layout.units()
        result = counts.copy()
        for unit in np.unique(units):
            table = _table(self.variance * int(unit) ** 2)
            chosen = units == unit
            result[chosen] += table.sample_sum(users, int(chosen.sum()), rng)
        return result


@lru_cache
def _table(variance: Fraction) -> NoiseTable:
    """Return the discrete Gaussian as a table that ends where its mass is negligible."""
    sigma = math.sqrt(variance)
    radius = math.ceil(_TAIL * sigma) + 1
    points = np.arange(-radius, radius + 1, dtype=np.float64)
    return NoiseTable(np.exp(-(points**2) / (2 * float(variance))))


def _on_grid(sigma: float) -> Fraction:
    """Round σ² up to a short fraction, so that exact sampling stays fast."""
    return Fraction(math.ceil(sigma**2 * 2**_VARIANCE_BITS), 2**_VARIANCE_BITS)


@lru_cache
def _least_variance(layout: Layout, epsilon: float, delta: float) -> Fraction:
    resolution = layout.resolution or 1

    def exact_delta(sigma: float) -> float:
        variance = _on_grid(sigma)
        noise, reward_noise = _table(variance), _table(variance * resolution**2)
        tables: dict[Block, NoiseTable] = {
            "rewards": reward_noise,
            "visits": noise,
            "transitions": noise,
        }
        return tables_delta(layout, tables, epsilon)

    # Gaussian noise of the classical size is a safe place to start the search from.
    start = math.sqrt(l2_sensitivity_squared(layout) * 2 * math.log(1.25 / delta)) / epsilon
    return _on_grid(least_noise(exact_delta, delta, start))
