"""Where a question looks: a public partition of the states into cells."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

import numpy as np

from ldprl.errors import InputError
from ldprl.shape import Array, IntArray


@dataclass(frozen=True, eq=False)
class Partition:
    """Cells 0, 1, …, none of them empty; ``cell[s]`` is the cell of state s."""

    cell: IntArray

    def __post_init__(self) -> None:
        cell = np.asarray(self.cell)
        fits = cell.ndim == 1 and cell.size > 0 and cell.dtype.kind in "iu" and cell.min() == 0
        # The number of states bounds the number of cells, so this array is never large.
        if not fits or cell.max() >= cell.size or np.bincount(cell).min() == 0:
            expected = "the cell of each state: whole numbers from 0 on, none left out"
            raise InputError("where", cell.tolist()[:20], expected)
        object.__setattr__(self, "cell", cell.astype(np.int64, copy=False))

    @classmethod
    @lru_cache(maxsize=64)
    def by_state(cls, states: int) -> Partition:
        """Return the finest partition: every state is a cell."""
        return cls(np.arange(states))

    @classmethod
    @lru_cache(maxsize=64)
    def whole(cls, states: int) -> Partition:
        """Return the coarsest one: all states are one cell, so that no state is reported."""
        return cls(np.zeros(states, dtype=np.int64))

    @cached_property
    def count(self) -> int:
        """How many cells there are."""
        return int(self.cell.max()) + 1

    @cached_property
    def first(self) -> IntArray:
        """The first state of each cell, in whose rows the sums of the cell are kept."""
        return np.unique(self.cell, return_index=True)[1].astype(np.int64)

    def summed(self, values: Array, axis: int = 0) -> Array:
        """Return ``values`` by state added up by cell."""
        moved = np.moveaxis(values, axis, 0)
        result = np.zeros((self.count, *moved.shape[1:]), dtype=values.dtype)
        np.add.at(result, self.cell, moved)
        return np.moveaxis(result, 0, axis)

    def same(self, other: Partition) -> bool:
        """Whether both put the same states into the same cells, with the same numbers."""
        return np.array_equal(self.cell, other.cell)

    @classmethod
    def from_document(cls, field: str, value: Any, states: int) -> Partition:
        """Read the list of a document, one cell number for each state."""
        expected = f"{states} whole numbers: the cell of each state"
        if not isinstance(value, list) or len(value) != states:
            raise InputError(field, value, expected)
        if not all(type(cell) is int and 0 <= cell < states for cell in value):
            raise InputError(field, value, expected)
        return cls(np.array(value, dtype=np.int64))
