"""Policies that are tables, and their law: thousands of public tables from one public seed.

A plan that gives every user a random table hands out the law, not the tables. Table i is a
deterministic function of (law, i), the same bit for bit in every language: probabilities are whole
numbers over 2³², and random words come from SHA-256 in counter mode.
"""

from __future__ import annotations

import contextlib
import hashlib
import itertools
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from ldprl.errors import InputError
from ldprl.partition import Partition
from ldprl.policies.policy import Policy, PolicyDistribution, check_number
from ldprl.shape import Array, FloatArray, IntArray, Shape

WHOLE = 2**32
"""What the weights of a row sum to."""
_WORDS_IN_BLOCK = 8
"""32-bit words in a SHA-256 digest."""
_FIELDS = {"seed", "weights", "where"}
_SEED = re.compile(r"[0-9a-f]{32}")


@dataclass(frozen=True, eq=False)
class Table(Policy):
    """Actions of shape (H, S): what to do in state s at step h."""

    actions: IntArray

    def act(self, step: int, observation: int) -> int:
        """Return the action in state number ``observation``."""
        return int(self.actions[step, observation])

    def document(self) -> list[list[int]]:
        """Return the rows of all steps."""
        rows: list[list[int]] = self.actions.tolist()
        return rows

    @property
    def key(self) -> bytes:
        """The actions."""
        return np.asarray(self.actions, dtype=np.int64).tobytes()

    @classmethod
    def from_document(cls, document: object, shape: Shape, *, alike: bool = False) -> Table:
        """Read what :meth:`document` wrote, or refuse it; ``alike``: one row may stand for all."""
        rows = document if isinstance(document, list) else []
        if alike and len(rows) == 1:
            rows = rows * shape.horizon
        fits = len(rows) == shape.horizon and all(
            isinstance(row, list) and len(row) == shape.states for row in rows
        )
        # JSON's true and 1.0 are no actions, and arrays would take them.
        if fits and set(map(type, itertools.chain.from_iterable(rows))) == {int}:
            with contextlib.suppress(OverflowError):
                actions = np.array(rows, dtype=np.int64)
                if actions.min() >= 0 and actions.max() < shape.actions:
                    return cls(actions)
        expected = f"{shape.horizon} lists of {shape.states} actions from 0 to {shape.actions - 1}"
        raise InputError("policy", document, expected)


@dataclass(frozen=True, eq=False)
class TableDistribution(PolicyDistribution):
    """Tables 0, 1, …, 2⁵³ − 1: in each, every cell draws its action on its own.

    The k-th word of table i is the k mod 8-th big-endian 32-bit word of
    SHA-256(seed ‖ i in 8 bytes ‖ ⌊k/8⌋ in 4 bytes); row k of the weights, counted step by step and
    cell by cell, takes the first action whose cumulated weight exceeds it.

    Attributes
    ----------
    seed
        32 hexadecimal digits. Public.
    weights
        Whole numbers of shape (B, cells, A), 1 ≤ B ≤ H; each row sums to 2³². The last B − 1 steps
        have actions of their own, all steps before them share the first.
    shape
        Sizes of the problem.
    where
        States that act alike; None if each draws on its own.
    """

    seed: str
    weights: IntArray
    shape: Shape
    where: Partition | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.seed, str) or not _SEED.fullmatch(self.seed):
            raise InputError("law.seed", self.seed, "32 hexadecimal digits in lower case")
        if self.where is not None and len(self.where.cell) != self.shape.states:
            raise InputError("law.where", len(self.where.cell), f"{self.shape.states} states")
        weights = np.asarray(self.weights)
        rows = (self.cells.count, self.shape.actions)
        most = self.shape.horizon
        expected = f"whole numbers of shape (1 to {most}, {rows[0]}, {rows[1]})"
        fits = weights.ndim == 3 and weights.shape[1:] == rows and 1 <= len(weights) <= most
        if not fits or weights.dtype.kind not in "iu":
            raise InputError("law.weights", f"{weights.dtype}{weights.shape}", expected)
        # Bounded first, so that no sum overflows.
        if weights.min() < 0 or weights.max() > WHOLE or np.any(weights.sum(axis=2) != WHOLE):
            raise InputError("law.weights", "other sums", f"rows ≥ 0 that sum to {WHOLE}")
        object.__setattr__(self, "weights", weights.astype(np.int64, copy=False))

    @classmethod
    def of(
        cls,
        shape: Shape,
        probabilities: FloatArray,
        seed: str,
        where: Partition | None = None,
    ) -> TableDistribution:
        """Round ``probabilities`` to whole weights: the nearest ones that still sum to 2³²."""
        chances = np.asarray(probabilities, dtype=np.float64)
        if chances.ndim != 3 or not np.all(np.isfinite(chances)) or chances.min() < 0:
            raise InputError("probabilities", chances.shape, "numbers ≥ 0, (1 to H, cells, A)")
        totals = chances.sum(axis=2, keepdims=True)
        if np.any(np.abs(totals - 1) > 1e-9):
            raise InputError("probabilities", float(totals.max()), "rows that sum to 1")
        exact = chances / totals * WHOLE
        weights = np.floor(exact).astype(np.int64)
        missing = WHOLE - weights.sum(axis=2)
        # The largest remainders are rounded up.
        rank = np.argsort(np.argsort(weights - exact, axis=2, kind="stable"), axis=2)
        return cls(seed, weights + (rank < missing[:, :, None]), shape, where)

    @cached_property
    def cells(self) -> Partition:
        """Which states act alike."""
        return Partition.by_state(self.shape.states) if self.where is None else self.where

    @cached_property
    def _bounds(self) -> IntArray:
        """Cumulated weights but the last of each row, of shape (rows, A − 1)."""
        cumulated: IntArray = np.cumsum(self.weights, axis=2)[:, :, :-1]
        return cumulated.reshape(len(self.weights) * self.cells.count, self.shape.actions - 1)

    def policy(self, number: int) -> Table:
        """Return table ``number``."""
        return Table(self.table(number))

    def policy_document(self, number: int) -> list[list[int]]:
        """Return table ``number``: one row if all steps are the same; all would take longer."""
        table = self.tables([number])[0]
        rows: list[list[int]] = (table[:1] if self.stationary else table).tolist()
        return rows

    @property
    def draws(self) -> int:
        """Return one for each row of the weights."""
        return self.weights[:, :, 0].size

    @property
    def short(self) -> bool:
        """Whether it has fewer weights than a table has actions, none of which is longer."""
        return self.weights.size < self.shape.states * (
            1 if self.stationary else self.shape.horizon
        )

    def table(self, number: int) -> IntArray:
        """Return table ``number``, of shape (H, S)."""
        table: IntArray = self.tables([number])[0].astype(np.int64)
        return table

    def tables(self, numbers: Sequence[int]) -> Array:
        """Return tables of shape (len(numbers), H, S); equal steps share their memory."""
        rows = len(self._bounds)
        blocks = -(-rows // _WORDS_IN_BLOCK)
        ends = [block.to_bytes(4, "big") for block in range(blocks)]
        start = bytes.fromhex(self.seed)
        dtype = np.min_scalar_type(self.shape.actions)
        actions = np.empty((len(numbers), rows), dtype=dtype)
        for place, number in enumerate(numbers):
            stem = hashlib.sha256(start + check_number("number", number).to_bytes(8, "big"))
            stream = bytearray()
            for end in ends:
                block = stem.copy()
                block.update(end)
                stream += block.digest()
            words = np.frombuffer(bytes(stream), dtype=">u4")[:rows].astype(np.int64)
            actions[place] = (words[:, None] >= self._bounds).sum(axis=1)
        by_cell = actions.reshape(len(numbers), len(self.weights), self.cells.count)
        by_state = by_cell[:, :, self.cells.cell]
        if not self.stationary:
            return by_state[:, self.part_of_step]
        wanted = (len(numbers), self.shape.horizon, self.shape.states)
        return np.broadcast_to(by_state, wanted)

    @property
    def part_of_step(self) -> IntArray:
        """Which part of the weights each step has, of shape (H,)."""
        horizon = self.shape.horizon
        return np.maximum(np.arange(horizon) - (horizon - len(self.weights)), 0)

    @property
    def stationary(self) -> bool:
        """Whether all steps of a table are the same."""
        return len(self.weights) == 1

    def chances(self) -> FloatArray:
        """Return the probability of each action, of shape (H, S, A)."""
        by_state = self.weights[:, self.cells.cell] / WHOLE
        return by_state[self.part_of_step]

    def document(self) -> dict[str, Any]:
        """Return the law as JSON."""
        written = {"seed": self.seed, "weights": self.weights.tolist()}
        return written if self.where is None else written | {"where": self.where.cell.tolist()}

    @classmethod
    def from_document(cls, document: object, shape: Shape) -> TableDistribution:
        """Read what :meth:`document` wrote, or refuse it."""
        if not isinstance(document, dict) or not {"seed", "weights"} <= set(document) <= _FIELDS:
            raise InputError("law", document, "an object of " + ", ".join(sorted(_FIELDS)))
        where = None
        if "where" in document:
            where = Partition.from_document("law.where", document["where"], shape.states)
        given = document.get("weights")
        steps = given if isinstance(given, list) else []
        rows = [row for step in steps if isinstance(step, list) for row in step]
        numbers = [number for row in rows if isinstance(row, list) for number in row]
        if not numbers or not all(type(n) is int and 0 <= n <= WHOLE for n in numbers):
            raise InputError("law.weights", "no whole numbers", f"numbers from 0 to {WHOLE}")
        try:
            weights = np.array(given, dtype=np.int64)
        except ValueError:
            raise InputError("law.weights", "ragged lists", "lists of equal length") from None
        return cls(document["seed"], weights, shape, where)
