"""What a user receives: a policy table and, where the mechanism asks any, questions."""

from __future__ import annotations

from dataclasses import dataclass

from ldprl.errors import InputError
from ldprl.questions.question import Question
from ldprl.shape import Policy


@dataclass(frozen=True, eq=False)
class Assignment:
    """Public instructions for a share of the next users.

    Attributes
    ----------
    policy
        Actions of shape (H, S). The whole table is handed out, never a look-up by state.
    share
        Which share of the users gets this assignment; the shares of a plan sum to 1.
    questions
        What to report about, for mechanisms that ask: each about a step of its own.
    """

    policy: Policy
    share: float = 1.0
    questions: tuple[Question, ...] = ()

    def __post_init__(self) -> None:
        steps = [question.step for question in self.questions]
        if len(set(steps)) < len(steps):
            raise InputError("questions", f"about steps {steps}", "questions about distinct steps")


Plan = tuple[Assignment, ...]
"""What a learner hands out: assignments whose shares sum to 1."""
