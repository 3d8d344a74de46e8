"""The cell and the next one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ldprl.mechanisms.questions.observable import Decoded, Observable
from ldprl.mechanisms.questions.steps import (
    add_arrivals,
    add_moves,
    move_law,
    moves_held,
    state_law,
)
from ldprl.partition import Partition
from ldprl.shape import FloatArray, IntArray, Policy
from ldprl.statistics import Statistics

if TYPE_CHECKING:
    from ldprl.mechanisms.sampling import RandomSource
    from ldprl.mechanisms.trajectory import Trajectory
    from ldprl.mechanisms.true_counts import TrueCounts
    from ldprl.worlds.tabular import TabularMDP


@dataclass(frozen=True)
class Transition(Observable):
    """Where did step h lead? The last step leads nowhere, and is not asked about."""

    kind = "transition"
    tells_next = True

    def steps(self, horizon: int) -> range:
        """Return all steps but the last."""
        return range(horizon - 1)

    def outcomes(self, cells: int) -> int:
        """Return how many cells there are to go to."""
        return cells

    def outcome(
        self, trajectory: Trajectory, step: int, where: Partition, source: RandomSource
    ) -> int:
        """Return the next cell."""
        return int(where.cell[trajectory.states[step + 1]])

    def law(self, mdp: TabularMDP, policy: Policy, step: int, where: Partition) -> FloatArray:
        """Return P(cell, next cell)."""
        law = state_law(mdp, policy, step)[:, None] * move_law(mdp, policy, step)
        return where.summed(where.summed(law), axis=1)

    def counts(
        self, totals: TrueCounts, step: int, where: Partition, rng: np.random.Generator
    ) -> IntArray:
        """Return how many users went from each cell to each."""
        return where.summed(where.summed(moves_held(totals, step)), axis=1)

    def add(self, statistics: Statistics, decoded: Decoded) -> None:
        """Add to transitions and arrivals."""
        add_moves(statistics, decoded, decoded.counts)
        add_arrivals(statistics, decoded)
