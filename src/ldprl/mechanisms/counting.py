"""Mechanisms whose report is a noisy version of the counters R, N^r and N^p (section 4.1)."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ldprl.assignment import Assignment
from ldprl.errors import InputError, instance_of, one_of
from ldprl.layout import Layout
from ldprl.mechanisms.codec import Counters, CountersByTable, ReportCodec
from ldprl.mechanisms.error_laws import ErrorLaws
from ldprl.mechanisms.mechanism import Constants, Mechanism
from ldprl.mechanisms.sampling import RandomSource, SystemSource
from ldprl.shape import Array, FloatArray, IntArray, Shape
from ldprl.statistics import Statistics

if TYPE_CHECKING:
    from ldprl.mechanisms.trajectory import Trajectory
    from ldprl.mechanisms.true_counts import TrueCounts


class CountingMechanism(Mechanism):
    """A mechanism whose report is a noisy version of the counters R, N^r, N^p (section 4.1).

    Parameters
    ----------
    shape
        Sizes of the problem.
    constants
        ``"sound"`` (default) or ``"paper"``: see the page *What we found in the paper*.
    squares
        Whether to report the sums of squared rewards too (LDP-PSRL's fourth block).
    resolution
        Rewards are rounded at random to multiples of 1/resolution; None keeps them real.
    policy_aware
        Leave out of the sums, and so keep free of noise, the cells that the user's policy cannot
        visit. It is post-processing. Default: on, except with ``paper`` constants.
    """

    reports_counters = True
    independent_counters = True

    def __init__(
        self,
        shape: Shape,
        *,
        constants: Constants = "sound",
        squares: bool = False,
        resolution: int | None = 1,
        policy_aware: bool | None = None,
    ) -> None:
        one_of("constants", constants, ("sound", "paper"))
        self.problem = shape
        self.constants = constants
        self.resolution = resolution
        self.layout = Layout(shape, squares, resolution)
        if policy_aware is not None:
            instance_of("policy_aware", policy_aware, bool)
        self.policy_aware = constants == "sound" if policy_aware is None else policy_aware

    @property
    @abstractmethod
    def error_laws(self) -> ErrorLaws:
        """The paper's c_{k,1..4} for this mechanism."""

    def counters(self) -> Layout:
        """Return the place of each counter in a report."""
        return self.layout

    @property
    def rounding_variance(self) -> float:
        """Bound on the variance that rounding adds to one report's reward counter."""
        if self.layout.resolution is None:
            return 0.0
        return self.shape.most_visits / (4 * self.layout.resolution**2)

    @abstractmethod
    def privatize_counts(self, counts: Array, source: RandomSource) -> Array:
        """Return the report made from one user's counters; leading axes hold further users."""

    @abstractmethod
    def sample_counts(self, counts: Array, users: int, rng: np.random.Generator) -> Array:
        """Draw the sum of ``users`` reports whose true counters sum to ``counts``."""

    def noise(self) -> Any:
        """Return the noise of :mod:`ldprl.kernels.noise` that compiled code draws, if any."""
        return None

    def channel(self) -> Any:
        """Return the channel that puts :meth:`noise` on the counters."""
        noise = self.noise()
        if noise is None:
            return None
        from ldprl.kernels.counting_channel import counting_channel

        return counting_channel(self.layout, noise, policy_aware=self.policy_aware)

    def counts_log_likelihood(self, reports: Array, counts: Array) -> FloatArray | None:
        """Return ln P(report | counts) of each report, up to a constant, if it is known."""
        return None

    def decode_counts(self, tally: Array, users: int | Array) -> FloatArray:
        """Return an unbiased estimate of the summed counters; additive noise has no bias.

        ``users`` is how many reports were added up, in all or in each counter.
        """
        return np.asarray(tally, dtype=np.float64)

    def privatize(
        self, trajectory: Trajectory, assignment: Assignment, source: RandomSource
    ) -> Array:
        """Return the counters of ``trajectory``, randomized."""
        return self.privatize_counts(trajectory.counts(self.layout, source), source)

    def privatize_many(
        self, trajectory: Trajectory, assignment: Assignment, count: int, source: RandomSource
    ) -> Array | Sequence[Array]:
        """Return the rows that ``privatize_counts`` makes of as many rows of counters."""
        if any(reward not in (0, 1) for reward in trajectory.rewards):
            # Each report rounds its rewards anew.
            return super().privatize_many(trajectory, assignment, count, source)
        counts = trajectory.counts(self.layout, source)
        rows: Array = self.privatize_counts(np.tile(counts, (count, 1)), source)
        return rows

    def log_likelihood(
        self, reports: Array, trajectory: Trajectory, assignment: Assignment
    ) -> FloatArray | None:
        """Return ln P(report | trajectory) of each report, for rewards that are 0 or 1."""
        if reports.shape[1] != self.layout.length:
            return None
        # Rewards on the grid are not rounded, so no random bit is drawn here.
        return self.counts_log_likelihood(reports, trajectory.counts(self.layout, SystemSource()))

    def decode(self, tally: Array, users: int, assignment: Assignment) -> Statistics:
        """Return unbiased sums; with ``policy_aware``, only of cells that the policy can visit."""
        shape, length = self.shape, self.layout.length
        cells = (shape.models, shape.states, shape.actions)
        counts, reports = tally, np.full(cells, users, dtype=np.int64)
        per_counter: int | Array = users
        if self.policy_aware and assignment.law is not None:
            counts, reports = tally[:length], tally[length:].reshape(cells)
            per_counter = self.layout.of_cells(reports)
        elif self.policy_aware:
            reports = shape.played(assignment.table) * np.int64(users)
        blocks = self.layout.blocks(self.decode_counts(counts, per_counter))
        rewards, visits, transitions, squares = blocks
        played = reports > 0
        unit = self.layout.reward_unit
        moves = played[: shape.transition_models, :, :, None]
        return Statistics(
            shape=shape,
            users=users,
            rewards=np.where(played, rewards * unit, 0.0),
            visits=np.where(played, visits, 0.0),
            transitions=np.where(moves, transitions, 0.0),
            reports=reports,
            squares=None if squares is None else np.where(played, squares * unit, 0.0),
        )

    def codec(self, assignment: Assignment) -> ReportCodec:
        """Return the range of each counter: as far as noise may take it."""
        most = self.layout.steps() * self.layout.units()
        low, high = self.report_range(most)
        if assignment.law is not None and self.policy_aware:
            return CountersByTable(low, high, self.layout, assignment.law)
        return Counters(low, high)

    def reach(
        self, assignment: Assignment, rewards: FloatArray, moves: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """Return the same from the range of each counter: unbounded noise is cut by the client."""
        least, most = self.report_range(self.layout.steps() * self.layout.units())
        low = self.layout.blocks(self.decode_counts(least, 1))
        high = self.layout.blocks(self.decode_counts(most, 1))
        unit = self.layout.reward_unit
        up = high[0] * unit - rewards * low[1]
        down = rewards * high[1] - low[0] * unit
        others_low = low[2].sum(axis=-1, keepdims=True) - low[2]
        others_high = high[2].sum(axis=-1, keepdims=True) - high[2]
        up_moves = (1 - moves) * high[2] - moves * others_low
        down_moves = moves * others_high - (1 - moves) * low[2]
        return np.maximum(up, down), np.maximum(up_moves, down_moves).max(axis=-1)

    def report_range(self, most: IntArray) -> tuple[IntArray, IntArray]:
        """Return the least and the largest number in a report, where a counter can be ``most``."""
        return -self.noise_reach + np.zeros_like(most), most + self.noise_reach

    @property
    def noise_reach(self) -> int:
        """How far a client lets noise take a counter; deployments count in whole units."""
        raise InputError("mechanism", self.name, "one that a client can draw")

    def sample_tally(
        self, totals: TrueCounts, assignment: Assignment, rng: np.random.Generator
    ) -> Array:
        """Draw the tally of all the users in ``totals``, exactly in distribution."""
        counts = totals.counts(self.layout, assignment.table)
        return self.sample_counts(counts, totals.users, rng)

    def no_statistics(self) -> Statistics:
        """Return the sums of no reports, with a block of squares if it is reported."""
        return Statistics.empty(self.shape, squares=self.layout.squares)
