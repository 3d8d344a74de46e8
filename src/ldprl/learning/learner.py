"""The protocol of a learner: sums of private reports in, instructions for the next users out."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, ClassVar, Self

import numpy as np

from ldprl.assignment import Assignment, Plan, check_plan
from ldprl.mechanisms.mechanism import Mechanism
from ldprl.naming import Named, built_from
from ldprl.statistics import Statistics


class Learner(Named, ABC):
    """Turns :class:`~ldprl.statistics.Statistics` into assignments for the next users.

    What it hands out is a function of the sums (and of ``rng`` where it samples), so a service
    can restart at any time and go on with the same plan.
    """

    private: ClassVar[bool] = True
    """Whether the learner can work with noisy sums."""
    needs_squares: ClassVar[bool] = False
    """Whether reports must have the sums of squared rewards."""
    promise: ClassVar[str] = "no proof"
    """What is known of its regret, in a few words."""
    forecast_with: ClassVar[tuple[str, ...]] = ()
    """The mechanisms with which the adviser forecasts it."""
    needs_central_trust: ClassVar[bool] = False
    """Whether privacy is joint: the service sees true data and protects users from each other."""

    @classmethod
    def build(cls, mechanism: Mechanism, **given: Any) -> Self:
        """Return the learner, from those of the parameters that its constructor takes.

        Beside the mechanism these are its ``shape`` and ``constants``, and what the caller has:
        ``episodes``, ``epsilon``, ``failure_probability``, ``alpha``.
        """
        own = {"mechanism": mechanism, "shape": mechanism.shape, "constants": mechanism.constants}
        return built_from(cls, own | given)

    @classmethod
    def can_serve(cls) -> bool:
        """Whether a service can plan with it: from private sums, for any number of users."""
        return cls.private and not cls.needs_squares and "episodes" not in cls.parameters()

    def for_forecast(self) -> Learner:
        """Return a version whose plans take less time, where forecasts need one."""
        return self

    @property
    def joint_epsilon(self) -> float | None:
        """ε of joint differential privacy, for learners that need central trust."""
        return None

    @abstractmethod
    def plan(self, statistics: Statistics, rng: np.random.Generator) -> tuple[Assignment, ...]:
        """Return the assignments of the next users, with the share of users for each."""


def next_plan(
    learner: Learner, mechanism: Mechanism, statistics: Statistics, rng: np.random.Generator
) -> Plan:
    """Return the learner's plan, checked, with the questions that the mechanism asks."""
    return mechanism.ask(check_plan(learner.plan(statistics, rng), statistics.shape))
