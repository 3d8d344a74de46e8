"""What the questions about the whole return share: they ask for a bit, and for no state."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from ldprl.mechanisms.questions.observable import Decoded, Observable
from ldprl.mechanisms.sampling import RandomSource, round_to_grid
from ldprl.partition import Partition
from ldprl.statistics import Statistics

if TYPE_CHECKING:
    from ldprl.mechanisms.trajectory import Trajectory


@dataclass(frozen=True)
class ReturnBit(Observable):
    """Reports the return R = r_1 + … + r_H by a bit that is 1 with a probability that R decides."""

    has_bottom = False
    rounds = True

    def where(self, states: int) -> Partition:
        """Return all states as one cell."""
        return Partition.whole(states)

    def steps(self, horizon: int) -> range:
        """Return the first step: the return counts from there."""
        return range(1)

    def outcomes(self, cells: int) -> int:
        """Return 2, for the bits 0 and 1."""
        return 2

    def outcome(
        self, trajectory: Trajectory, step: int, where: Partition, source: RandomSource
    ) -> int:
        """Return the bit."""
        return round_to_grid(source, self.exact_share(trajectory), 1)

    @abstractmethod
    def exact_share(self, trajectory: Trajectory) -> Fraction:
        """Return P(bit = 1) in exact numbers: from the same bytes, every language has this bit."""

    def add(self, statistics: Statistics, decoded: Decoded) -> None:
        """Add nothing to the sums of a model: a return is evidence about no row alone."""


def total_reward(trajectory: Trajectory) -> Fraction:
    """Return R, exactly."""
    return sum(map(Fraction, trajectory.rewards), Fraction(0))
