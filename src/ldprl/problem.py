"""What users, service and learner agree on before anybody takes part.

:class:`~ldprl.shape.Shape` is the problem of finitely many states, whose policies are tables.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar, Self

from ldprl.errors import InputError
from ldprl.naming import Catalogue, Named
from ldprl.policies.policy import Action, Observation, Policy, PolicyDistribution


class Problem(Named, ABC):
    """What users see and do, for how long, and which policies they may be given.

    Your own kind is one class, which a deployment names as ``[policy] kind = "module:Class"``.
    Whoever is handed something checks it here, so that a service, a relay and a client refuse the
    same, each in one line.
    """

    horizon: int
    """H, the number of steps of an episode."""
    exposed: ClassVar[str] = ""
    """What somebody learns who sees more of a user than the report, in a statement's words."""
    labelled: ClassVar[tuple[str, ...]] = ()
    """What ``[labels]`` may name one by one, beside the title and the reward: attributes that say
    how many there are."""

    @property
    def incumbent(self) -> Policy | None:
        """The policy that users had before, where the problem says so."""
        return None

    @property
    @abstractmethod
    def returns(self) -> tuple[float, float]:
        """The least and the largest return of an episode."""

    @abstractmethod
    def check_observation(self, field: str, value: object) -> Observation:
        """Return what a user sees, or refuse it."""

    @abstractmethod
    def check_action(self, field: str, value: object) -> Action:
        """Return what a user did, or refuse it."""

    @abstractmethod
    def check_reward(self, field: str, value: float) -> float:
        """Return the reward of one step, or refuse it."""

    @abstractmethod
    def check_policy(self, field: str, value: object) -> Policy | PolicyDistribution:
        """Return a policy or a law of policies that a learner made, or refuse it."""

    @abstractmethod
    def read_policy(self, document: object, *, drawn: bool = False) -> Policy:
        """Read what a policy wrote, or refuse it; ``drawn``: what a distribution wrote."""

    @abstractmethod
    def read_distribution(self, document: object) -> PolicyDistribution:
        """Read what a distribution wrote, or refuse it."""

    @abstractmethod
    def document(self) -> dict[str, Any]:
        """Return what the class is made of as JSON, without floats; part of the digest."""

    @classmethod
    @abstractmethod
    def from_document(cls, document: Mapping[str, Any]) -> Self:
        """Read what :meth:`document` wrote, or a person, or refuse it; bounds come first."""

    def sizes(self) -> dict[str, Any]:
        """Return how large it is, as a statement for programs has it."""
        return {"horizon": self.horizon}

    @property
    def in_words(self) -> str:
        """How large it is, for people."""
        return f"{self.name}, {self.horizon} steps"

    def stated(self) -> dict[str, Any]:
        """Return the part of a deployment's document that states the problem."""
        return {"policy": {"kind": PROBLEMS.name_of(type(self))} | self.document()}

    def check_sizes(self, *, reports_counters: bool) -> None:
        """Refuse a problem that a service or a device could not build.

        ``reports_counters``: a report has a number for every counter.
        """

    def recommended(
        self, epsilon: float | None, learner: str, mechanism: str, users: int | None = None
    ) -> tuple[str, str]:
        """Return learner and mechanism; those that are not given are the recommended ones."""
        for field, name in (("learner", learner), ("mechanism", mechanism)):
            if not name:
                raise InputError(field, name, f"a name: none is recommended for {self.name}")
        return learner, mechanism


PROBLEMS: Catalogue[Problem] = Catalogue("policy.kind", "ldprl.policies", Problem)  # type: ignore[type-abstract]


def problem_from(document: object, *, load: bool = True) -> Problem:
    """Read the table ``[policy]`` of a file or a document.

    Without ``load`` no module is imported because a document names it.
    """
    if not isinstance(document, Mapping) or not isinstance(document.get("kind"), str):
        raise InputError("policy", document, "a table with a kind")
    kind = PROBLEMS.find(document["kind"], load=load)
    return kind.from_document({key: document[key] for key in document if key != "kind"})
