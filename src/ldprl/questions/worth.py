"""One bit of what a policy is worth to those who are given it, whatever they make of it."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from ldprl.mechanisms.sampling import RandomSource, round_to_grid
from ldprl.questions.matter import Decoded, Matter
from ldprl.questions.partition import Partition
from ldprl.shape import FloatArray, IntArray, Policy, Shape
from ldprl.statistics import Statistics

if TYPE_CHECKING:
    from ldprl.mdp.tabular import TabularMDP
    from ldprl.mechanisms.trajectory import Trajectory


@dataclass(frozen=True)
class Worth(Matter):
    """Tells the return R = r_1 + … + r_H by a bit that is 1 with probability R/H.

    It serves certificates, and is no evidence for the learner. Whoever was given the policy counts,
    followed or not: what they earned is what the policy brought. Who stopped early counts as 0.
    """

    kind = "worth"
    has_bottom = False
    rounds = True

    def where(self, states: int) -> Partition:
        """Return all states as one cell."""
        return Partition.whole(states)

    def steps(self, horizon: int) -> range:
        """Return the first step: the return counts from there."""
        return range(1)

    def last_step(self, step: int, horizon: int) -> int:
        """Return −1: no action matters."""
        return -1

    def outcomes(self, cells: int) -> int:
        """Return 2, for the bits 0 and 1."""
        return 2

    def outcome(
        self, trajectory: Trajectory, step: int, where: Partition, source: RandomSource
    ) -> int:
        """Return the bit."""
        # In exact numbers: the same bit from the same random bytes in every language.
        total = sum(map(Fraction, trajectory.rewards), Fraction(0))
        return round_to_grid(source, total / len(trajectory.rewards), 1)

    def untold(self, items: int, source: RandomSource) -> int:
        """Return 0, for users who stopped early."""
        return 0

    def law(self, mdp: TabularMDP, policy: Policy, step: int, where: Partition) -> FloatArray:
        """Return P(bit) for users who follow the policy: its value, over H."""
        from ldprl.mdp.evaluation import policy_values

        one = float(mdp.initial @ policy_values(mdp, policy)[0]) / mdp.horizon
        return np.array([[1 - one, one]]).clip(0.0, 1.0)

    def rows(self, shape: Shape, step: int, where: Partition) -> tuple[IntArray, IntArray]:
        """Return every state, as no state is told."""
        return np.zeros(shape.states, dtype=np.int64), np.arange(shape.states)

    def add(self, statistics: Statistics, decoded: Decoded) -> None:
        """Add nothing: the learner does not read it."""
