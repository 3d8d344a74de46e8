"""The place of each counter in a report: one flat vector, one block after the other."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ldprl.errors import instance_of, whole_number
from ldprl.shape import Array, IntArray, Shape

_FINEST = 2**20
"""The finest resolution: rounding to it adds less than 10⁻¹² to the variance of a reward."""


@dataclass(frozen=True)
class Layout:
    """Blocks of a counting report: rewards R, visits N^r, transitions N^p and, if asked, r² sums.

    Attributes
    ----------
    shape
        Sizes of the problem.
    squares
        Whether the fourth block is there.
    resolution
        Rewards are integers in units of 1/resolution; None keeps them real.
    """

    shape: Shape
    squares: bool = False
    resolution: int | None = 1

    def __post_init__(self) -> None:
        instance_of("shape", self.shape, Shape, "mdp.shape")
        instance_of("squares", self.squares, bool)
        if self.resolution is not None:
            whole_number("resolution", self.resolution, 1, _FINEST)

    @property
    def reward_unit(self) -> float:
        """Size of one unit of the reward blocks."""
        return 1.0 if self.resolution is None else 1 / self.resolution

    @property
    def length(self) -> int:
        """Number of counters."""
        return self._bounds()[-1]

    def blocks(self, vector: Array) -> tuple[Array, Array, Array, Array | None]:
        """Return views (rewards, visits, transitions, squares or None) of a flat vector."""
        shape = self.shape
        cells = (shape.models, shape.states, shape.actions)
        moves = (shape.transition_models, shape.states, shape.actions, shape.states)
        first, second, third, last = self._bounds()
        return (
            vector[:first].reshape(cells),
            vector[first:second].reshape(cells),
            vector[second:third].reshape(moves),
            vector[third:last].reshape(cells) if self.squares else None,
        )

    def of_cells(self, values: Array) -> Array:
        """Return, for every counter, the value of its (model, s, a)."""
        vector = np.empty(self.length, dtype=values.dtype)
        rewards, visits, transitions, squares = self.blocks(vector)
        rewards[...] = visits[...] = values
        transitions[...] = values[: self.shape.transition_models, :, :, None]
        if squares is not None:
            squares[...] = values
        return vector

    def steps(self) -> IntArray:
        """Return how many steps of an episode can feed each counter."""
        vector = np.full(self.length, self.shape.most_visits, dtype=np.int64)
        self.blocks(vector)[2][...] = self.shape.most_moves
        return vector

    def units(self) -> IntArray:
        """Return the units that a step can add to a counter: ``resolution`` for rewards, or 1."""
        vector = np.ones(self.length, dtype=np.int64)
        rewards, _, _, squares = self.blocks(vector)
        rewards[...] = self.resolution or 1
        if squares is not None:
            squares[...] = self.resolution or 1
        return vector

    def noise_for(self, counts: Array, draw: Callable[[int, int], IntArray]) -> IntArray:
        """Return noise for every counter from ``draw(units in a step, how many)``."""
        units = self.units()
        noise = np.empty(counts.shape, dtype=np.int64)
        for unit in np.unique(units):
            chosen = units == unit
            size = noise[..., chosen].shape
            noise[..., chosen] = draw(int(unit), math.prod(size)).reshape(size)
        return noise

    def _bounds(self) -> tuple[int, int, int, int]:
        shape = self.shape
        cells = shape.cells
        moves = shape.transition_models * shape.states**2 * shape.actions
        return cells, 2 * cells, 2 * cells + moves, (3 if self.squares else 2) * cells + moves
