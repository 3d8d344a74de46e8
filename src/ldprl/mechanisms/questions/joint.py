"""The cell, a bit of the reward, and the next cell, all at once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ldprl.mechanisms.questions.observable import Decoded, Observable
from ldprl.mechanisms.questions.steps import (
    add_arrivals,
    add_moves,
    add_rewards,
    bit_law,
    bits_held,
    move_law,
    moves_held,
)
from ldprl.mechanisms.sampling import RandomSource, round_to_grid
from ldprl.partition import Partition
from ldprl.shape import FloatArray, IntArray, Policy
from ldprl.statistics import Statistics

if TYPE_CHECKING:
    from ldprl.mechanisms.trajectory import Trajectory
    from ldprl.mechanisms.true_counts import TrueCounts
    from ldprl.worlds.tabular import TabularMDP


@dataclass(frozen=True)
class Joint(Observable):
    """Was there a reward at step h, and where did it lead? The last step leads to state 0."""

    kind = "joint"
    tells_reward = True
    tells_next = True

    def outcomes(self, cells: int) -> int:
        """Return 2 bits times the cells to go to."""
        return 2 * cells

    def outcome(
        self, trajectory: Trajectory, step: int, where: Partition, source: RandomSource
    ) -> int:
        """Return bit·cells + next cell."""
        bit = round_to_grid(source, float(trajectory.rewards[step]), 1)
        last = step + 1 == len(trajectory.states)
        following = 0 if last else int(trajectory.states[step + 1])
        return bit * where.count + int(where.cell[following])

    def law(self, mdp: TabularMDP, policy: Policy, step: int, where: Partition) -> FloatArray:
        """Return P(cell, bit, next cell): given the state, bit and next state are independent."""
        moves = where.summed(move_law(mdp, policy, step), axis=1)
        law = bit_law(mdp, policy, step)[:, :, None] * moves[:, None, :]
        return where.summed(law).reshape(where.count, -1)

    def counts(
        self, totals: TrueCounts, step: int, where: Partition, rng: np.random.Generator
    ) -> IntArray:
        """Draw how many users hold each (cell, bit, next cell).

        Given the state, bit and next state are independent: those with bit 1 are a hypergeometric
        draw from the users who went from this state to each.
        """
        ones, moves = bits_held(totals, step)[:, 1], moves_held(totals, step)
        with_one = np.stack(
            [
                rng.multivariate_hypergeometric(row, count, method="marginals")
                for row, count in zip(moves, ones.tolist(), strict=True)
            ]
        )
        held = where.summed(np.stack([moves - with_one, with_one], axis=1), axis=2)
        return where.summed(held).reshape(where.count, -1)

    def add(self, statistics: Statistics, decoded: Decoded) -> None:
        """Add to all sums that a reward question and a transition question add to."""
        cube = decoded.counts.reshape(len(decoded.counts), 2, -1)
        add_rewards(statistics, decoded, cube.sum(axis=2))
        add_moves(statistics, decoded, cube.sum(axis=1))
        add_arrivals(statistics, decoded)
