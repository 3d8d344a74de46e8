"""Learners and a mechanism that make the loop observable."""

from __future__ import annotations

import numpy as np

from ldprl.assignment import Assignment
from ldprl.learning.learner import Learner
from ldprl.mechanisms.counting import CountingMechanism
from ldprl.mechanisms.error_laws import ErrorLaw, ErrorLaws
from ldprl.mechanisms.mechanism import Guarantee
from ldprl.mechanisms.sampling import RandomSource
from ldprl.shape import Array, Shape
from ldprl.statistics import Statistics


class Watched(Learner):
    """Plans like another learner, and keeps what it was shown."""

    name = "watched"
    summary = "for tests"
    private = True

    def __init__(self, inner: Learner) -> None:
        self.inner = inner
        self.seen: list[Statistics] = []

    def plan(self, statistics: Statistics, rng: np.random.Generator) -> tuple[Assignment, ...]:
        self.seen.append(statistics)
        return self.inner.plan(statistics, rng)


class TwoGroups(Learner):
    """Gives a quarter of the users action 0 everywhere, and the rest action 1."""

    name = "two-groups"
    summary = "for tests"
    private = True

    def plan(self, statistics: Statistics, rng: np.random.Generator) -> tuple[Assignment, ...]:
        size = (statistics.shape.horizon, statistics.shape.states)
        return (
            Assignment(np.zeros(size, dtype=np.int64), 0.25),
            Assignment(np.ones(size, dtype=np.int64), 0.75),
        )


class NoNoise(CountingMechanism):
    """Reports counters with noise of size zero."""

    name = "no-noise"
    summary = "for tests"

    def __init__(self, shape: Shape) -> None:
        super().__init__(shape, resolution=None, policy_aware=False)

    @property
    def guarantee(self) -> Guarantee:
        return Guarantee(float("inf"), 0.0)

    @property
    def error_laws(self) -> ErrorLaws:
        exact = ErrorLaw(1, 0.0)
        return ErrorLaws(exact, exact, exact, exact)

    def privatize_counts(self, counts: Array, source: RandomSource) -> Array:
        return counts + 0 * source.words(len(counts))

    def sample_counts(self, counts: Array, users: int, rng: np.random.Generator) -> Array:
        return counts + 0.0
