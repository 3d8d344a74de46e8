"""A kind of question: the cell alone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ldprl.mechanisms.questions.observable import Decoded, Observable
from ldprl.mechanisms.questions.steps import add_arrivals, state_law
from ldprl.mechanisms.sampling import RandomSource
from ldprl.partition import Partition
from ldprl.shape import FloatArray, Policy
from ldprl.statistics import Statistics

if TYPE_CHECKING:
    from ldprl.mechanisms.trajectory import Trajectory
    from ldprl.worlds.tabular import TabularMDP


@dataclass(frozen=True)
class Place(Observable):
    """Where were you at step h?"""

    kind = "place"

    def outcomes(self, cells: int) -> int:
        return 1

    def outcome(
        self, trajectory: Trajectory, step: int, where: Partition, source: RandomSource
    ) -> int:
        return 0

    def law(self, mdp: TabularMDP, policy: Policy, step: int, where: Partition) -> FloatArray:
        law: FloatArray = where.summed(state_law(mdp, policy, step)[:, None])
        return law

    def add(self, statistics: Statistics, decoded: Decoded) -> None:
        add_arrivals(statistics, decoded)
