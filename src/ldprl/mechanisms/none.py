"""No privacy at all: the baseline, and what non-private learners are fed with."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ldprl.accounting.loss import LossPair
from ldprl.assignment import Assignment
from ldprl.mechanisms.counting import CountingMechanism
from ldprl.mechanisms.error_laws import ErrorLaw, ErrorLaws
from ldprl.mechanisms.mechanism import Constants, Guarantee
from ldprl.mechanisms.row_laws import RowLaws, additive_laws
from ldprl.shape import Array, Shape
from ldprl.statistics import Statistics

if TYPE_CHECKING:
    from ldprl.mechanisms.sampling import RandomSource
    from ldprl.mechanisms.trajectory import Trajectory
    from ldprl.mechanisms.true_counts import TrueCounts


class NoPrivacy(CountingMechanism):
    """Reports the counters as they are, with squares and the visits of each step beside them."""

    name = "none"
    title = "No privacy"
    colour = "#1b1b1b"
    private = False
    summary = "true counters, no privacy: the baseline"

    def __init__(self, shape: Shape, *, constants: Constants = "sound") -> None:
        super().__init__(
            shape, constants=constants, squares=True, resolution=None, policy_aware=False
        )

    @property
    def guarantee(self) -> Guarantee:
        """None: ε is infinite."""
        return Guarantee(math.inf, 0.0)

    @property
    def error_laws(self) -> ErrorLaws:
        """No noise, no error."""
        exact = ErrorLaw(1, 0.0)
        return ErrorLaws(exact, exact, exact, exact)

    def loss_pairs(self) -> list[LossPair]:
        """Return two reports that cannot be mistaken for each other."""
        return [LossPair(np.array([1.0, 0.0]), np.array([0.0, 1.0]))]

    @property
    def row_laws(self) -> RowLaws:
        """No noise: only the users' own outcomes scatter."""
        return additive_laws(self.shape, 0.0, 0.0, 0.0, 0.0)

    def privatize_counts(self, counts: Array, source: RandomSource) -> Array:
        """Return the counters unchanged."""
        return counts

    def sample_counts(self, counts: Array, users: int, rng: np.random.Generator) -> Array:
        """Return the summed counters unchanged."""
        return counts

    def noise(self) -> Any:
        """Return no noise, for compiled code."""
        from ldprl.kernels.noise import NoNoise

        return NoNoise()

    def privatize(
        self, trajectory: Trajectory, assignment: Assignment, source: RandomSource
    ) -> Array:
        """Return the counters and, behind them, which state was visited at which step."""
        arrivals = np.zeros((self.shape.horizon, self.shape.states))
        for step, state in enumerate(trajectory.states):
            arrivals[step, state] = 1
        return np.concatenate([trajectory.counts(self.layout, source), arrivals.ravel()])

    def sample_tally(
        self, totals: TrueCounts, assignment: Assignment, rng: np.random.Generator
    ) -> Array:
        """Return the true sums of all the users in ``totals``."""
        counts = totals.counts(self.layout, assignment.table)
        return np.concatenate([counts, totals.arrivals.ravel()])

    def decode(self, tally: Array, users: int, assignment: Assignment) -> Statistics:
        """Return the true sums, with arrivals."""
        statistics = super().decode(tally[: self.layout.length], users, assignment)
        arrivals = tally[self.layout.length :].reshape(self.shape.horizon, self.shape.states)
        return replace(statistics, arrivals=arrivals)

    def no_statistics(self) -> Statistics:
        """Return the sums of no reports."""
        return Statistics.empty(self.shape, squares=True, arrivals=True)
