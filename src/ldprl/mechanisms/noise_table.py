"""Noise on finitely many integers: a table of probabilities, drawn one by one or n at a time."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np

from ldprl.accounting.loss import LossPair, delta_at, shifted_pair
from ldprl.layout import Layout
from ldprl.mechanisms.sensitivity import Block, worst_shifts
from ldprl.shape import Array, FloatArray, IntArray


@dataclass(frozen=True, eq=False)
class NoiseTable:
    """Symmetric noise on the integers −radius, …, radius, counted in units of 1/grid.

    Attributes
    ----------
    weights
        Of odd length 2·radius + 1, whole numbers where a client draws from them; the probability
        of a value is its weight over their sum.
    grid
        Steps of the table in one unit of a counter.
    """

    weights: Array
    grid: int = 1

    @cached_property
    def pmf(self) -> FloatArray:
        """Probabilities of −radius, …, radius."""
        return np.asarray(self.weights / self.weights.sum(), dtype=np.float64)

    @property
    def radius(self) -> int:
        """Largest value, in steps of the table."""
        return len(self.weights) // 2

    @property
    def bound(self) -> float:
        """Largest value, in units of a counter."""
        return self.radius / self.grid

    @property
    def variance(self) -> float:
        """Variance, in squared units of a counter."""
        return float(self.pmf @ self.support.astype(np.float64) ** 2) / self.grid**2

    @property
    def support(self) -> IntArray:
        """The integers of the table."""
        return np.arange(-self.radius, self.radius + 1)

    def log_pmf(self, steps: IntArray) -> FloatArray:
        """Return the logarithm of the probability of each value, −∞ outside the table."""
        inside = np.abs(steps) <= self.radius
        result = np.full(steps.shape, -np.inf)
        with np.errstate(divide="ignore"):
            result[inside] = np.log(self.pmf)[steps[inside] + self.radius]
        return result

    def sample_sum(self, users: int, size: int, rng: np.random.Generator) -> IntArray:
        """Draw ``size`` sums of ``users`` draws, each from one multinomial over the table."""
        return rng.multinomial(users, self.pmf, size=size) @ self.support

    def is_log_concave(self) -> bool:
        """Whether w(i)² ≥ w(i−1)·w(i+1) all along: what the worst pair's proof asks for."""
        exact = [Fraction(weight) for weight in self.weights.tolist()]
        return all(b * b >= a * c for a, b, c in zip(exact, exact[1:], exact[2:], strict=False))


def tables_of(layout: Layout, table: Callable[[int], NoiseTable]) -> dict[Block, NoiseTable]:
    """Return the table of each block, from ``table(whole units that one step can add)``."""
    noise, reward_noise = table(1), table(layout.resolution or 1)
    return {"rewards": reward_noise, "visits": noise, "transitions": noise}


def tables_delta(layout: Layout, tables: Mapping[Block, NoiseTable], epsilon: float) -> float:
    """Return δ(ε) of the worst pair when each block's counters get noise from its own table."""
    return delta_at(table_pairs(layout, tables), epsilon)


def table_pairs(layout: Layout, tables: Mapping[Block, NoiseTable]) -> list[LossPair]:
    """Return one pair for each counter of the worst pair of trajectories."""
    pairs = []
    for shift in worst_shifts(layout):
        table = tables[shift.block]
        pairs.append(shifted_pair(table.pmf, shift.size * table.grid, shift.counters))
    return pairs
