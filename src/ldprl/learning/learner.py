"""The protocol of a learner: sums of private reports in, instructions for the next users out."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar

import numpy as np

from ldprl.assignment import Assignment, Plan, check_plan
from ldprl.mechanisms.mechanism import Mechanism
from ldprl.statistics import Statistics


class Learner(ABC):
    """Turns :class:`~ldprl.statistics.Statistics` into assignments for the next users.

    What it hands out is a function of the sums (and of ``rng`` where it samples), so a service
    can restart at any time and go on with the same plan.
    """

    name: ClassVar[str]
    summary: ClassVar[str]
    private: ClassVar[bool]
    """Whether the learner can work with noisy sums."""
    needs_central_trust: ClassVar[bool] = False
    """Whether privacy is joint: the service sees true data and protects users from each other."""

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
