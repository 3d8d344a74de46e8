"""What goes over the wire: an assignment to a user, a report to the service."""

from __future__ import annotations

import json
import re
from base64 import b64encode
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast

from ldprl.assignment import Assignment, check_admissible
from ldprl.errors import InputError, whole_number
from ldprl.mechanisms.codec import ReportCodec
from ldprl.mechanisms.mechanism import Mechanism
from ldprl.policies.policy import Policy, PolicyDistribution
from ldprl.protocol.deployment import Deployment
from ldprl.protocol.sizes import LARGEST_COUNT
from ldprl.query import Query

REPORT_ID = re.compile(r"[0-9a-f]{32}")


@dataclass(frozen=True, eq=False)
class Issued:
    """An assignment as a user receives it: of which policy version, and which of its parts.

    ``number`` is what the user drew: that of the user's own policy, where the assignment has a law
    of them. As it is received, the assignment has that policy itself.
    """

    deployment: str
    version: int
    index: int
    assignment: Assignment
    number: int | None = None

    def document(self, mechanism: Mechanism) -> dict[str, Any]:
        """Return it as JSON. The weights of an answer stay with the service.

        A law goes out whole, unless the user's own policy is known: then that alone, with what the
        user is asked.
        """
        one = self.assignment
        asked = one.questions if self.number is None else one.questions_of(self.number)
        return (
            {"deployment": self.deployment, "version": self.version, "assignment": self.index}
            | self._policy()
            | {"questions": [mechanism.question_document(question) for question in asked]}
            | ({} if self.number is None else {"number": self.number})
        )

    def _policy(self) -> dict[str, Any]:
        law = self.assignment.distribution
        if law is None:
            return {"policy": self.assignment.policy.document()}
        if self.number is None:
            return {"law": law.document()}
        return {"policy": law.policy_document(self.number)}

    @classmethod
    def from_document(
        cls, document: object, deployment: Deployment, number: int | None = None
    ) -> Issued:
        """Read what a service sent to a user who drew ``number``, or refuse it."""
        if not isinstance(document, dict):
            raise InputError("assignment", document, "an object")
        if document.get("deployment") != deployment.digest:
            raise InputError("deployment", document.get("deployment"), deployment.digest)
        # Its policy, or all of them. Nobody but the user chooses which one that is.
        own = document.get("number")
        if own is not None and (own != number or isinstance(own, bool)):
            raise InputError("number", own, f"{number}, which this user drew")
        policies = read_policy(document, deployment, drawn=own is not None)
        asked = read_questions(document.get("questions"), policies, deployment)
        one = Assignment(policies, questions=asked)
        if one.numbered and own is None:
            raise InputError("number", None, f"{number}, which this user drew")
        return cls(
            deployment.digest,
            read_version(document),
            whole_number("assignment", document.get("assignment"), 0),
            one.drawn(own),
            own,
        )


def read_version(document: Mapping[str, Any]) -> int:
    """Return the version of a plan that a service sent."""
    return whole_number("version", document.get("version"), 0, LARGEST_COUNT)


def read_policy(
    document: Mapping[str, Any], deployment: Deployment, *, drawn: bool = False
) -> Policy | PolicyDistribution:
    """Return an assignment's policy or its law, and refuse actions that are not admissible.

    ``drawn``: the policy is written as a law writes those of its users.
    """
    problem = deployment.problem
    policy: Policy | PolicyDistribution
    if "law" in document:
        policy = problem.read_distribution(document["law"])
    else:
        policy = problem.read_policy(document.get("policy"), drawn=drawn)
    # Not the user's own policy alone: what is refused does not depend on chance.
    check_admissible(Assignment(policy), deployment.structure)
    return policy


def report_document(report_id: str, issued: Issued, values: list[int]) -> dict[str, Any]:
    """Return a report as JSON: all that ever leaves the user."""
    return {
        "id": report_id,
        "deployment": issued.deployment,
        "version": issued.version,
        "assignment": issued.index,
        **({} if issued.number is None else {"number": issued.number}),
        "values": values,
    }


def report_bytes_of(report_id: str, issued: Issued, values: list[int]) -> bytes:
    """Return a report as the bytes that are sent."""
    document = report_document(report_id, issued, values)
    return json.dumps(document, separators=(",", ":")).encode()


def sealed_document(issued: Issued, sealed: bytes) -> bytes:
    """Return what a relay receives: the version in the clear, and the rest sealed."""
    document = {
        "deployment": issued.deployment,
        "version": issued.version,
        "sealed": b64encode(sealed).decode(),
    }
    return json.dumps(document, separators=(",", ":")).encode()


def longest_report(issued: Issued, letters: ReportCodec) -> int:
    """Return how many bytes the longest report under an assignment has, whatever is drawn."""
    return len(report_bytes_of("0" * 32, issued, letters.longest()))


def read_questions(
    value: object, policies: Policy | PolicyDistribution, deployment: Deployment
) -> tuple[Query, ...]:
    """Return what users of ``policies`` are asked, or refuse what the deployment does not ask."""
    count = deployment.built.asks
    if not isinstance(value, list) or len(value) != count:
        raise InputError("questions", value, f"a list of {count}")
    asked = tuple(_question(f"questions[{i}]", one, deployment) for i, one in enumerate(value))
    for i, question in enumerate(asked):
        question.check_received(f"questions[{i}]", policies)
    return asked


def _question(field: str, value: object, deployment: Deployment) -> Query:
    question = deployment.built.read_question(field, value)
    # A question with its own partition has the integers that hide its answers.
    given = cast(dict[str, Any], value)
    for key, expected in deployment.built.question_document(question).items():
        if given.get(key) != expected:
            raise InputError(f"{field}.{key}", given.get(key), f"{expected}")
    return question
