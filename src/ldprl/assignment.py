"""What a user receives: a policy table and, where the mechanism asks any, questions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from ldprl.errors import InputError
from ldprl.shape import FloatArray, Policy

QuestionKind = Literal["reward", "transition", "joint"]


@dataclass(frozen=True, eq=False)
class Question:
    """What a user is asked about one step of the episode. Public, and independent of the data.

    Attributes
    ----------
    kind
        ``"reward"``: the state and a bit of the reward; ``"transition"``: the state and the next
        one; ``"joint"``: all three.
    step
        The step asked about, from 0.
    weights
        How much the answer counts for each state, from 0 to 1, of shape (S,): the service weighs
        down states that few users of this policy are in. Fixed before the user answers.
    """

    kind: QuestionKind
    step: int
    weights: FloatArray


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
