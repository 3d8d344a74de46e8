"""The cell and a bit of the reward."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ldprl.mechanisms.questions.observable import Decoded, Observable
from ldprl.mechanisms.questions.steps import add_arrivals, add_rewards, bit_law, bits_held
from ldprl.mechanisms.sampling import RandomSource, round_to_grid
from ldprl.partition import Partition
from ldprl.shape import FloatArray, IntArray, Policy
from ldprl.statistics import Statistics

if TYPE_CHECKING:
    from ldprl.mechanisms.trajectory import Trajectory
    from ldprl.mechanisms.true_counts import TrueCounts
    from ldprl.worlds.tabular import TabularMDP


@dataclass(frozen=True)
class Reward(Observable):
    """Was there a reward at step h? A reward in (0, 1) is rounded to a bit at random."""

    kind = "reward"
    tells_reward = True

    def outcomes(self, cells: int) -> int:
        """Return 2, for the bits 0 and 1."""
        return 2

    def outcome(
        self, trajectory: Trajectory, step: int, where: Partition, source: RandomSource
    ) -> int:
        """Return the bit."""
        return round_to_grid(source, float(trajectory.rewards[step]), 1)

    def law(self, mdp: TabularMDP, policy: Policy, step: int, where: Partition) -> FloatArray:
        """Return P(cell, bit)."""
        return where.summed(bit_law(mdp, policy, step))

    def counts(
        self, totals: TrueCounts, step: int, where: Partition, rng: np.random.Generator
    ) -> IntArray:
        """Return how many users hold each (cell, bit)."""
        return where.summed(bits_held(totals, step))

    def add(self, statistics: Statistics, decoded: Decoded) -> None:
        """Add to rewards, visits and arrivals."""
        add_rewards(statistics, decoded, decoded.counts)
        add_arrivals(statistics, decoded)
