"""A policy on vectors of one's own: problem, mechanism, learner and world in one file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np

from ldprl import InputError, Mechanism, Trajectory
from ldprl.assignment import Assignment, Plan
from ldprl.learning.learner import Learner
from ldprl.mechanisms.codec import ReportCodec, Subsets
from ldprl.mechanisms.mechanism import Guarantee
from ldprl.mechanisms.sampling import RandomSource
from ldprl.mechanisms.subset import subset_oracle
from ldprl.policies.policy import Policy
from ldprl.problem import Problem
from ldprl.shape import Array


@dataclass(frozen=True)
class Side(Policy):
    """Action 1 where the first number is above the second, or the other way round."""

    turned: bool

    def act(self, step: int, observation: Any) -> int:
        return int((observation[0] > observation[1]) != self.turned)

    def document(self) -> Any:
        return {"turned": self.turned}


@dataclass(frozen=True)
class Sliders(Problem):
    """Two numbers, and which of them is larger."""

    horizon: int = 1
    returns = (0.0, 1.0)

    def check_observation(self, field: str, value: object) -> tuple[float, ...]:
        if not isinstance(value, tuple | list) or len(value) != 2:
            raise InputError(field, value, "two numbers")
        return tuple(float(number) for number in value)

    def check_action(self, field: str, value: object) -> int:
        if value not in (0, 1):
            raise InputError(field, value, "0 or 1")
        return int(value)

    def check_reward(self, field: str, value: float) -> float:
        return float(value)

    def check_policy(self, field: str, value: object) -> Side:
        if not isinstance(value, Side):
            raise InputError(field, value, "a side")
        return value

    def read_policy(self, document: object, *, drawn: bool = False) -> Side:
        if not isinstance(document, dict) or not isinstance(document.get("turned"), bool):
            raise InputError("policy", document, "a side")
        return Side(document["turned"])

    def read_distribution(self, document: object) -> Any:
        raise InputError("law", document, "no law: everybody has one policy")

    def document(self) -> dict[str, Any]:
        return {"horizon": self.horizon}

    @classmethod
    def from_document(cls, document: Mapping[str, Any]) -> Sliders:
        return cls(**document)


@dataclass(frozen=True)
class Answers:
    """Of the users of either side, how many there are, and how many reported a success."""

    users: int
    asked: Array
    ones: Array

    def __add__(self, other: Answers) -> Answers:
        added = self.users + other.users, self.asked + other.asked
        return Answers(*added, self.ones + other.ones)


class Success(Mechanism):
    """Whether the return was 1, by randomized response."""

    statistics_kind = "returns"
    deployable = True

    def __init__(self, problem: Problem, epsilon: float) -> None:
        self.problem = problem
        self.epsilon = epsilon
        self._oracle = subset_oracle(2, Fraction(repr(epsilon)))

    @property
    def guarantee(self) -> Guarantee:
        return Guarantee(self.epsilon, 0.0)

    def randomizer(self) -> dict[str, Any]:
        return {"success": self._oracle.document()}

    def privatize(
        self, trajectory: Trajectory, assignment: Assignment, source: RandomSource
    ) -> Array:
        trajectory.check(self.problem)
        report: Array = self._oracle.draw_many(int(sum(trajectory.rewards) > 0), 1, source)[0]
        return report

    def codec(self, assignment: Assignment) -> ReportCodec:
        return Subsets(((2, 1),))

    def decode(self, tally: Array, users: int, assignment: Assignment) -> Answers:
        nothing = self.no_statistics()
        side = int(assignment.policy.turned)  # type: ignore[attr-defined]
        nothing.asked[side], nothing.ones[side] = users, self._oracle.decode(tally, users)[1]
        return replace(nothing, users=users)

    def no_statistics(self) -> Answers:
        return Answers(0, np.zeros(2), np.zeros(2))


class Leader(Learner):
    """Gives nine tenths of the users the side with more successes, once there are any."""

    statistics_kind = "returns"

    def __init__(self, mechanism: Mechanism) -> None:
        self.mechanism = mechanism

    def plan(self, statistics: Answers, rng: np.random.Generator) -> Plan:
        means = statistics.ones / np.maximum(statistics.asked, 1)
        turned = bool(means[1] > means[0])
        share = 0.9 if statistics.users else 0.5
        return Assignment(Side(turned), share), Assignment(Side(not turned), 1 - share)


class Room:
    """A world in which action 1 is right where the first number is the smaller one."""

    problem = Sliders()

    def episode(self, policy: Policy, rng: np.random.Generator) -> Trajectory:
        seen = tuple(rng.random(2))
        action = policy.act(0, seen)
        return Trajectory((seen,), (action,), (float(action == (seen[0] < seen[1])),))
