"""What a user runs, and the public law from which each user's own is drawn.

A table of actions is one kind of policy, a function of a vector another; tables of random actions
are one kind of distribution, randomly shifted parameters another.
"""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from typing import Any

from ldprl.errors import whole_number

Observation = int | tuple[float, ...]
"""What a user sees at a step: the number of a state, or a vector."""
Action = int | tuple[float, ...]
"""What a user does: the number of an action, or a vector."""
MOST_POLICIES = 2**53
"""How many policies a law has: their numbers are those that every language reads exactly, and in
effect each user has a policy of their own."""


class Policy(ABC):
    """A public map from what a user sees to an action."""

    @abstractmethod
    def act(self, step: int, observation: Any) -> Any:
        """Return the action at ``step``, from 0, of a user who sees ``observation``."""

    @abstractmethod
    def document(self) -> Any:
        """Return the policy as JSON, which :meth:`~ldprl.problem.Problem.read_policy` reads."""

    @property
    def key(self) -> bytes:
        """What equal policies of a problem have in common, and no others."""
        return json.dumps(self.document(), sort_keys=True).encode()


class PolicyDistribution(ABC):
    """A public law of policies: number i is the same policy for everybody, in every language.

    A plan hands out the law. Each user draws one of the numbers 0 to 2⁵³ − 1, uniformly and anew
    for every episode. No plan says how many there are: one with a single policy, or a number that
    somebody else has chosen, would tell its user apart behind a relay.
    """

    @abstractmethod
    def policy(self, number: int) -> Policy:
        """Return policy ``number``, or refuse the number."""

    @abstractmethod
    def document(self) -> dict[str, Any]:
        """Return the law as JSON; :meth:`~ldprl.problem.Problem.read_distribution` reads it."""

    def policy_document(self, number: int) -> Any:
        """Return policy ``number`` as the user who drew it receives it."""
        return self.policy(number).document()

    @property
    def draws(self) -> int:
        """How many random numbers make a policy: what drawing one costs a service."""
        return 0

    @property
    def short(self) -> bool:
        """Whether the law is at most about as long as one of its policies.

        Users receive the law and their number then if that is shorter than their policy, and
        always their policy otherwise.
        """
        return True


def check_number(field: str, value: object) -> int:
    """Return the number of a policy in a law, or refuse it."""
    return whole_number(field, value, 0, MOST_POLICIES - 1)
