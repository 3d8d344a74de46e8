"""The Laplace mechanism: pure ε-LDP by noise on every counter (appendix E of the paper)."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from ldprl.accounting.loss import LossPair
from ldprl.accounting.noise_pairs import discrete_laplace_pair, laplace_pair
from ldprl.mechanisms.additive import AdditiveNoise
from ldprl.mechanisms.error_laws import ErrorLaw, ErrorLaws, additive_error_laws
from ldprl.mechanisms.mechanism import Guarantee
from ldprl.mechanisms.row_laws import RowLaws, additive_laws
from ldprl.mechanisms.sampling import RandomSource, discrete_laplace, generator_of
from ldprl.mechanisms.sensitivity import l1_sensitivity, worst_shifts
from ldprl.shape import Array, FloatArray


class Laplace(AdditiveNoise):
    """Adds Laplace noise to R, N^r and N^p (algorithm 3).

    ``sound``: discrete Laplace, P(x) ∝ e^{−|x|/b} on the integers, b = (6H − 2)/ε, the L1
    sensitivity over ε; drawn exactly. ``paper``: continuous Lap(6H/ε) (8H/ε with squares), which
    holds too, for simulation only.
    """

    name = "laplace"
    title = "Laplace"
    colour = "#0072b2"
    deployable = True
    summary = "discrete Laplace noise on every counter; pure ε"

    @cached_property
    def scale(self) -> Fraction:
        """b, in units of a counter."""
        if self.constants == "sound":
            sensitivity = l1_sensitivity(self.layout)
        else:
            sensitivity = (8 if self.layout.squares else 6) * self.shape.horizon
        return Fraction(sensitivity) / Fraction(repr(self.epsilon))

    @property
    def guarantee(self) -> Guarantee:
        """Pure ε: each of the worst pair's differences costs |difference|/b."""
        return Guarantee(self.epsilon, 0.0)

    @property
    def error_laws(self) -> ErrorLaws:
        """c_{k,i} of proposition 8.

        ``paper``: max{√k, t}·√(8t)·b. ``sound``: the sum of k draws is sub-gamma with variance
        2kb² and scale b (the discrete law's moment generating function lies below the continuous
        one's), and rounding k·H rewards adds k·H/(4·resolution²): √(2vt) + bt with t = ln(8SA/δ).
        """
        cells, states, b = self.shape.cells, self.shape.states, float(self.scale)
        if self.constants == "paper":
            root = math.sqrt(8) * b
            row = math.sqrt(8 * states) * b
            return ErrorLaws(
                rewards=ErrorLaw(6 * cells, root, power=root),
                visits=ErrorLaw(6 * cells, root, power=root),
                departures=ErrorLaw(6 * cells * states, row, power=root),
                transitions=ErrorLaw(6 * cells * states, root, power=root / math.sqrt(states)),
            )
        variance = 2 * b * b
        rewards = variance + self.rounding_variance
        return additive_error_laws(self.shape, variance, rewards=rewards, linear=b)

    @property
    def noise_reach(self) -> int:
        """45 scales: e^{−45} < 3·10⁻²⁰."""
        return math.ceil(45 * self.scale)

    def randomizer(self) -> dict[str, Any]:
        """Return the scale as a fraction."""
        scale = self.scale
        return {"numerator": str(scale.numerator), "denominator": str(scale.denominator)}

    def loss_pairs(self) -> list[LossPair]:
        """Return one pair for each counter of the worst pair of trajectories."""
        b = float(self.scale)
        shifts = worst_shifts(self.layout)
        if self.constants == "paper":
            return [laplace_pair(shift.size / b, shift.counters) for shift in shifts]
        return [discrete_laplace_pair(s.size, b / s.unit, s.counters) for s in shifts]

    def counts_log_likelihood(self, reports: Array, counts: Array) -> FloatArray:
        """Return −Σ |report − counts|/b."""
        result: FloatArray = -np.abs(reports - counts) @ (1 / self.layout.units())
        return result / float(self.scale)

    @property
    def row_laws(self) -> RowLaws:
        """Sub-gamma noise of variance 2b² and scale b; a user's own outcome has scale 1/3."""
        b = float(self.scale)
        variance = 2 * b * b
        return additive_laws(self.shape, variance, variance, variance, 0.0, tail=max(b, 1 / 3))

    def privatize_counts(self, counts: Array, source: RandomSource) -> Array:
        """Add one draw of noise to each counter."""
        if self.constants == "paper":
            noise = generator_of(source, self).laplace(scale=float(self.scale), size=counts.shape)
            return counts + noise
        return counts + self.layout.noise_for(
            counts, lambda unit, size: discrete_laplace(source, self.scale * unit, size)
        )

    def sample_counts(self, counts: Array, users: int, rng: np.random.Generator) -> Array:
        """Add the sum of ``users`` draws: Gamma − Gamma, or for the discrete law NB − NB."""
        size = len(counts)
        if self.constants == "paper":
            noise = rng.gamma(users, size=size) - rng.gamma(users, size=size)
            return counts + float(self.scale) * noise
        success = -np.expm1(-1 / (float(self.scale) * self.layout.units()))
        up = rng.negative_binomial(users, success)
        return counts + up - rng.negative_binomial(users, success)

    def noise(self) -> Any:
        """Return the noise for compiled code."""
        from ldprl.kernels.noise import LaplaceNoise, discrete_laplace_noise

        if self.constants == "paper":
            return LaplaceNoise(float(self.scale))
        return discrete_laplace_noise(self.layout, float(self.scale))
