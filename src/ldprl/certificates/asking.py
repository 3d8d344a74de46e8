"""The assignments of users who are asked what a policy was worth, and what they answered."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ldprl.assignment import Assignment, Plan
from ldprl.questions.question import Question
from ldprl.questions.worth import Worth
from ldprl.shape import Array, Policy


def certifying(policy: Policy, share: float) -> Assignment:
    """Return the assignment of users who are given ``policy`` and asked what it was worth."""
    return Assignment(policy, share, (Question(Worth(), 0, np.ones(policy.shape[1])),))


def is_certifying(assignment: Assignment) -> bool:
    """Whether the users of an assignment answer for the certificate of its policy."""
    return is_asked(assignment) and bool(assignment.questions[0].weights.any())


def is_asked(assignment: Assignment) -> bool:
    """Whether the users of an assignment are asked what it was worth."""
    return any(isinstance(question.what, Worth) for question in assignment.questions)


def tried(plan: Plan, share: float) -> Plan:
    """Return the tables of ``plan`` once each, with the question what they were worth.

    Its answers have no weight for any policy: they show what exploring costs.
    """
    by_table: dict[bytes | int, list[Assignment]] = {}
    for one in plan:
        key = id(one.law) if one.law is not None else one.policy.tobytes()
        by_table.setdefault(key, []).append(one)
    return tuple(
        replace(
            same[0],
            share=share * sum(one.share for one in same),
            questions=(Question(Worth(), 0, np.zeros(len(same[0].questions[0].weights))),),
        )
        for same in by_table.values()
    )


def ones_of(assignment: Assignment, tally: Array) -> int:
    """Return how many bits are 1; under a law of tables they are counted by (state, action)."""
    if assignment.law is None:
        return int(tally[1])
    shape = assignment.law.shape
    rows = shape.states * shape.actions
    by_row: Array = tally[: 2 * rows].reshape(shape.states, shape.actions, 2)
    return int(by_row[0, :, 1].sum())
