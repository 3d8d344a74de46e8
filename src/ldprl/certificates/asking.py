"""The assignments of users who are asked what a policy was worth."""

from __future__ import annotations

import numpy as np

from ldprl.assignment import Assignment
from ldprl.mechanisms.questions.question import Question
from ldprl.mechanisms.questions.worth import Worth
from ldprl.shape import Policy


def certifying(policy: Policy, share: float) -> Assignment:
    """Return the assignment of users who are given ``policy`` and asked what it was worth."""
    return Assignment(policy, share, (Question(Worth(), 0, np.ones(policy.shape[1])),))


def is_certifying(assignment: Assignment) -> bool:
    """Whether the users of an assignment answer for the certificate of its policy."""
    first = assignment.questions[0] if assignment.questions else None
    return first is not None and isinstance(first.what, Worth) and bool(first.weights.any())
