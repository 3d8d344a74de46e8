"""What users receive: policies and, where the mechanism asks any, questions."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ldprl.errors import InputError, instance_of, real
from ldprl.policies.policy import MOST_POLICIES, Policy, PolicyDistribution, check_number
from ldprl.policies.tables import Table, TableDistribution
from ldprl.problem import Problem
from ldprl.query import Query
from ldprl.shape import Array, FloatArray, IntArray, Shape
from ldprl.structure import Structure


@dataclass(frozen=True, eq=False, init=False)
class Assignment:
    """Public instructions for a share of the next users.

    Attributes
    ----------
    policies
        The policy of all of them, or the law from which each user's own is drawn. An array of
        actions, of shape (H, S), is a table. A whole policy is handed out, never a look-up by
        state.
    share
        Which share of the users gets this assignment; the shares of a plan sum to 1.
    questions
        What to report about, for mechanisms that ask: each is a :class:`~ldprl.query.Query` of the
        kind that the mechanism asks, about a different step.
    """

    policies: Policy | PolicyDistribution
    share: float = 1.0
    questions: tuple[Any, ...] = ()

    def __init__(
        self,
        policies: Policy | PolicyDistribution | Array,
        share: float = 1.0,
        questions: tuple[Query, ...] = (),
    ) -> None:
        if not isinstance(policies, Policy | PolicyDistribution):
            policies = Table(policies)
        object.__setattr__(self, "policies", policies)
        object.__setattr__(self, "share", share)
        object.__setattr__(self, "questions", instance_of("questions", questions, tuple))
        for i, question in enumerate(self.questions):
            if not isinstance(question, Query):
                raise InputError(f"questions[{i}]", question, "a Question")
        steps = [question.step for question in self.questions]
        if len(set(steps)) < len(steps):
            raise InputError("questions", f"about steps {steps}", "questions about distinct steps")

    @property
    def distribution(self) -> PolicyDistribution | None:
        """The law of the policies, if each user's is drawn."""
        return self.policies if isinstance(self.policies, PolicyDistribution) else None

    @property
    def law(self) -> TableDistribution | None:
        """The law of the tables, if each user's table is drawn."""
        return self.policies if isinstance(self.policies, TableDistribution) else None

    @property
    def numbered(self) -> bool:
        """Whether each user draws a number, and reports under it."""
        return self.distribution is not None

    @property
    def policy(self) -> Policy:
        """The one policy of all users."""
        if not isinstance(self.policies, Policy):
            raise InputError("assignment.policy", "a law of policies", "one policy: see drawn()")
        return self.policies

    @property
    def table(self) -> IntArray:
        """The actions, of shape (H, S), of the one table of all users."""
        return instance_of("assignment.policy", self.policy, Table).actions

    def drawn(self, number: int | None) -> Assignment:
        """Return the assignment of the users who get policy ``number``, if there is a law."""
        law = self.distribution
        if law is None:
            return self
        own = check_number("number", number)
        return replace(self, policies=law.policy(own), questions=self.questions_of(own))

    def questions_of(self, number: int) -> tuple[Any, ...]:
        """Return what the user is asked who drew ``number``, if there is a law."""
        law = self.distribution
        if law is None:
            return self.questions
        return tuple(question.drawn(law, number) for question in self.questions)

    def spread(self, users: int, rng: np.random.Generator) -> Iterator[tuple[Assignment, int]]:
        """Draw which policies ``users`` users get: each with the number of its users."""
        law = self.distribution
        if law is None:
            yield self, users
            return
        for number in rng.integers(MOST_POLICIES, size=users).tolist():
            yield self.drawn(number), 1

    def chances(self, shape: Shape) -> FloatArray:
        """Return how likely a user is to get each action, of shape (H, S, A)."""
        if self.law is not None:
            return self.law.chances()
        result = np.zeros((shape.horizon, shape.states, shape.actions))
        steps, states = np.ogrid[: shape.horizon, : shape.states]
        result[steps, states, self.table] = 1.0
        return result


Plan = tuple[Assignment, ...]
"""What a learner hands out: assignments whose shares sum to 1."""

SHARES_TOLERANCE = 1e-9
"""How far the shares of a plan may be from 1: what adding a few thousand floats can lose."""


def check_plan(plan: object, problem: Problem) -> Plan:
    """Return ``plan`` unchanged, or refuse it; called before anybody receives it."""
    if not isinstance(plan, tuple | list) or not plan:
        raise InputError("plan", type(plan).__name__, "a tuple of one or more assignments")
    for i, one in enumerate(plan):
        field = f"plan[{i}]"
        if not isinstance(one, Assignment):
            raise InputError(field, type(one).__name__, "an Assignment")
        if real(f"{field}.share", one.share, "a number from 0 to 1") < 0:
            raise InputError(f"{field}.share", one.share, "a number from 0 to 1")
        problem.check_policy(f"{field}.policy", one.policies)
        for j, question in enumerate(one.questions):
            question.check(f"{field}.questions[{j}]", one, problem)
    total = float(sum(one.share for one in plan))
    if abs(total - 1) > SHARES_TOLERANCE:
        raise InputError("plan", f"shares that sum to {total:.12g}", "shares that sum to 1")
    return tuple(plan)


def check_admissible(one: Assignment, known: Structure | None) -> None:
    """Refuse an assignment by which somebody gets an action that is known to be inadmissible."""
    if known is None:
        return
    law = one.law
    if law is None:
        known.check_admissible("policy", one.table)
    else:
        known.check_law("law.weights", law.weights[:, law.cells.cell])


def shares_of(plan: Plan) -> FloatArray:
    """Return the shares of a checked plan as probabilities that numpy takes."""
    shares = np.array([one.share for one in plan], dtype=np.float64)
    total = shares.sum()
    # numpy refuses a sum above 1 + 1e-12, and a share above 1 by a rounding error.
    return np.minimum(shares if abs(total - 1) < 1e-13 else shares / total, 1.0)
