"""What users are asked to report about: public, and independent of their data."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, Self

if TYPE_CHECKING:
    from ldprl.assignment import Assignment
    from ldprl.policies.policy import Policy, PolicyDistribution
    from ldprl.problem import Problem


class Query(ABC):
    """What the users of an assignment are asked; a mechanism hides the answer."""

    step: int
    """The step that is asked about, from 0; the first one if it is about the whole episode."""

    @property
    @abstractmethod
    def kind(self) -> str:
        """Its name on the wire."""

    @property
    @abstractmethod
    def items(self) -> int:
        """How many answers there are."""

    @abstractmethod
    def check(self, field: str, assignment: Assignment, problem: Problem) -> None:
        """Refuse it, or the assignment that it is a part of, before anybody receives it."""

    @abstractmethod
    def document(self) -> dict[str, Any]:
        """Return it as JSON; the mechanism reads it with ``read_question``."""

    @property
    def kept(self) -> Any:
        """What the service keeps of it beside the document, as JSON; users do not receive it."""
        return None

    def check_received(  # noqa: B027  (by default there is nothing to refuse)
        self, field: str, policies: Policy | PolicyDistribution
    ) -> None:
        """Refuse what does not fit the policies that it came with, before anything is drawn."""

    def drawn(self, law: PolicyDistribution, number: int) -> Self:
        """Return what the user who drew policy ``number`` of a law is asked."""
        return self
