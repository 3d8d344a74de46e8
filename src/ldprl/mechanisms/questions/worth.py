"""One bit of what a policy is worth to those who are given it, whatever they make of it."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from ldprl.mechanisms.questions.return_bit import ReturnBit, total_reward
from ldprl.mechanisms.sampling import RandomSource
from ldprl.partition import Partition
from ldprl.shape import FloatArray, IntArray, Policy, Shape

if TYPE_CHECKING:
    from ldprl.mechanisms.trajectory import Trajectory
    from ldprl.worlds.tabular import TabularMDP


@dataclass(frozen=True)
class Worth(ReturnBit):
    """Reports the return R = r_1 + … + r_H by a bit that is 1 with probability R/H.

    It serves certificates, and is no evidence for the learner. Whoever was given the policy counts,
    followed or not: what they earned is what the policy brought. Who stopped early counts as 0.
    """

    kind = "worth"

    def last_step(self, step: int, horizon: int) -> int:
        """Return −1: no action matters."""
        return -1

    def exact_share(self, trajectory: Trajectory) -> Fraction:
        """Return R/H."""
        return total_reward(trajectory) / len(trajectory.rewards)

    def missing_item(self, items: int, source: RandomSource) -> int:
        """Return 0, for users who stopped early."""
        return 0

    def law(self, mdp: TabularMDP, policy: Policy, step: int, where: Partition) -> FloatArray:
        """Return P(bit) for users who follow the policy: its value, over H."""
        from ldprl.worlds.evaluation import policy_values

        one = float(mdp.initial @ policy_values(mdp, policy)[0]) / mdp.horizon
        return np.array([[1 - one, one]]).clip(0.0, 1.0)

    def rows(self, shape: Shape, step: int, where: Partition) -> tuple[IntArray, IntArray]:
        """Return every state, as no state is reported."""
        return np.zeros(shape.states, dtype=np.int64), np.arange(shape.states)
