"""The bounded noise mechanism: (ε, δ)-LDP by noise that never leaves (−R, R) (appendix F.3)."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any

import numpy as np

from ldprl.accounting.loss import LossPair, least_noise
from ldprl.errors import InputError
from ldprl.layout import Layout
from ldprl.mechanisms.additive import ApproximateNoise
from ldprl.mechanisms.error_laws import ErrorLaw, ErrorLaws, additive_error_laws
from ldprl.mechanisms.noise_table import NoiseTable, table_pairs, tables_delta, tables_of
from ldprl.mechanisms.row_laws import RowLaws, additive_laws
from ldprl.mechanisms.sampling import RandomSource, from_table, generator_of
from ldprl.mechanisms.sensitivity import Block
from ldprl.shape import Array, FloatArray

_TOTAL_WEIGHT = 2**62
"""Largest sum of the weights of a table: it fits a signed 64-bit word."""
_LEAST_WEIGHT = 2**20
"""Smaller weights are left out: rounding to a whole number would change them by more than 10⁻⁶."""
_PAPER_GRID_POINTS = 128
"""Steps from 0 to R of the grid on which the paper's continuous noise is drawn."""


class BoundedNoise(ApproximateNoise):
    """Adds noise of density ∝ exp(−exp(R²/(R² − η²))) on (−R, R) (algorithm 6; Dagan & Kur 2020).

    ``sound``: on the integers, from a table of integer weights, with the least R for which those
    weights give (ε, δ). Only the counters in which two users differ matter, so R does not grow
    with S or A. ``paper``: R₁ = √(SA·ln(1/δ))/ε₀ and R₂ = √S·R₁ with ε₀ = ε/(3H) and C = 1, drawn
    on a grid of 128 steps to R; at ε = 20 and H = 2 it gives no privacy at all.
    """

    name = "bounded-noise"
    title = "Bounded noise"
    colour = "#c27400"
    deployable = True
    least_delta = 1e-9
    summary = "noise of bounded support on every counter; (ε, δ)"

    def choose_sound_noise(self) -> None:
        """Choose the least R for which the tables' weights give (ε, δ)."""
        radius = _least_radius(self.layout, self.epsilon, self.delta)
        self.tables = _sound_tables(self.layout, radius)
        if not all(table.is_log_concave() for table in self.tables.values()):
            raise InputError("epsilon", self.epsilon, f"a larger ε: R = {radius:.0f} is too wide")

    def choose_paper_noise(self) -> float:
        """Choose R₁ and R₂."""
        per_step = self.epsilon / (3 * self.shape.horizon)
        radius = math.sqrt(self.shape.cells * math.log(1 / self.delta)) / per_step
        self.radii = (radius, radius * math.sqrt(self.shape.states))
        cell, move = map(_paper_table, self.radii)
        self.tables = {"rewards": cell, "visits": cell, "transitions": move}
        return tables_delta(self.layout, self.tables, self.epsilon)

    @property
    def error_laws(self) -> ErrorLaws:
        """c_{k,i} of proposition 15.

        ``paper``: R√(2(k−1)·ln(6SA/δ)) (zero at k = 1). ``sound``: Bernstein's √(2kvt) + Bt/3 with
        the table's own variance v and bound B, and rounding's for rewards, t = ln(8SA/δ).
        """
        cells, states = self.shape.cells, self.shape.states
        if self.constants == "paper":
            first, second = (math.sqrt(2) * radius for radius in self.radii)
            return ErrorLaws(
                rewards=ErrorLaw(6 * cells, first, lag=1),
                visits=ErrorLaw(6 * cells, first, lag=1),
                departures=ErrorLaw(6 * cells * states, second * math.sqrt(states), lag=1),
                transitions=ErrorLaw(6 * cells * states, second, lag=1),
            )
        noise, reward_noise = self.tables["visits"], self.tables["rewards"]
        unit = self.layout.reward_unit
        reward_variance = reward_noise.variance * unit**2 + self.rounding_variance
        reward_bound = (reward_noise.bound + self.shape.most_visits) * unit
        return additive_error_laws(
            self.shape,
            noise.variance,
            rewards=reward_variance,
            linear=noise.bound / 3,
            rewards_linear=reward_bound / 3,
        )

    @property
    def noise_reach(self) -> int:
        """The largest of the tables' radii."""
        return max(table.radius for table in self.tables.values())

    def randomizer(self) -> dict[str, Any]:
        """Return the weights of the noise; deployments count rewards in whole units."""
        return {"weights": [str(weight) for weight in self.tables["visits"].weights.tolist()]}

    def loss_pairs(self) -> list[LossPair]:
        """Return one pair for each counter of the worst pair of trajectories."""
        return table_pairs(self.layout, self.tables)

    def counts_log_likelihood(self, reports: Array, counts: Array) -> FloatArray:
        """Return the sum of the table's logarithms; −∞ for noise that is not in the table."""
        total = np.zeros(len(reports))
        for chosen, table in self._parts():
            place = np.rint((reports - counts)[:, chosen] * table.grid).astype(np.int64)
            total += table.log_pmf(place).sum(axis=1)
        return total

    @property
    def row_laws(self) -> RowLaws:
        """The tables' own variances and the largest of their bounds."""
        unit = self.layout.reward_unit
        rewards, visits, moves = (self.tables[b] for b in ("rewards", "visits", "transitions"))
        bound = max(rewards.bound * unit, visits.bound, moves.bound)
        variance = rewards.variance * unit**2
        return additive_laws(self.shape, visits.variance, variance, moves.variance, bound)

    def privatize_counts(self, counts: Array, source: RandomSource) -> Array:
        """Add one draw of noise to each counter."""
        result = counts.copy()
        for chosen, table in self._parts():
            size = result[..., chosen].shape
            if self.constants == "paper":
                rng = generator_of(source, self)
                result[..., chosen] += rng.choice(table.support, size, p=table.pmf) / table.grid
            else:
                draws = from_table(source, np.cumsum(table.weights), math.prod(size))
                result[..., chosen] += draws.reshape(size) - table.radius
        return result

    def sample_counts(self, counts: Array, users: int, rng: np.random.Generator) -> Array:
        """Add the sum of ``users`` draws: a multinomial over the table."""
        result = counts.copy()
        for chosen, table in self._parts():
            noise = table.sample_sum(users, int(chosen.sum()), rng)
            result[chosen] += noise if table.grid == 1 else noise / table.grid
        return result

    def _parts(self) -> list[tuple[Array, NoiseTable]]:
        """Return, for each different table, which counters it serves."""
        names = np.empty(self.layout.length, dtype=object)
        rewards, visits, transitions, squares = self.layout.blocks(names)
        rewards[...], visits[...], transitions[...] = "rewards", "visits", "transitions"
        if squares is not None:
            squares[...] = "rewards"
        return [(names == block, table) for block, table in self.tables.items()]

    def noise(self) -> Any:
        """Return the noise for compiled code."""
        from ldprl.kernels.table_noise import table_noise

        parts = self._parts()
        table = sum(i * chosen.astype(np.int64) for i, (chosen, _) in enumerate(parts))
        tables = [table for _, table in parts]
        return table_noise(self.layout, tables, np.asarray(table), [0.0] * len(tables))


def _weights(radius: float, grid: int) -> FloatArray:
    """Return exp(e − exp(R²/(R² − η²))) at η = i/grid, |i| < R·grid: 1 in the middle."""
    reach = math.ceil(radius * grid) - 1
    squares = (np.arange(-reach, reach + 1) / grid) ** 2
    with np.errstate(over="ignore"):
        return np.exp(math.e - np.exp(radius**2 / (radius**2 - squares)))


def _paper_table(radius: float) -> NoiseTable:
    grid = math.ceil(_PAPER_GRID_POINTS / radius)
    return NoiseTable(_weights(radius, grid), grid)


def _sound_tables(layout: Layout, radius: float) -> dict[Block, NoiseTable]:
    return tables_of(layout, lambda unit: _integer_table(radius * unit))


@lru_cache
def _integer_table(radius: float) -> NoiseTable:
    """Return the table that a client draws from: whole weights, none too small to round well.

    Their sum fits a signed 64-bit word.
    """
    shares = _weights(radius, 1)
    weights = np.floor(shares * (_TOTAL_WEIGHT // len(shares))).astype(np.int64)
    return NoiseTable(weights[weights >= _LEAST_WEIGHT])


@lru_cache
def _least_radius(layout: Layout, epsilon: float, delta: float) -> float:
    def exact_delta(radius: float) -> float:
        return tables_delta(layout, _sound_tables(layout, radius), epsilon)

    return least_noise(exact_delta, delta, start=1.0 + layout.shape.horizon / epsilon)
