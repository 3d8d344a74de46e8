"""What goes over the wire: an assignment to a user, a report to the service."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

import numpy as np

from ldprl.assignment import Assignment
from ldprl.errors import InputError
from ldprl.protocol.deployment import Deployment
from ldprl.questions.question import Question

REPORT_ID = re.compile(r"[0-9a-f]{32}")


@dataclass(frozen=True, eq=False)
class Issued:
    """An assignment as a user receives it: of which policy version, and which of its parts."""

    deployment: str
    version: int
    index: int
    assignment: Assignment

    def document(self) -> dict[str, Any]:
        """Return it as JSON. The weights of an answer stay with the service."""
        return {
            "deployment": self.deployment,
            "version": self.version,
            "assignment": self.index,
            "policy": self.assignment.policy.tolist(),
            "questions": question_documents(self.assignment),
        }

    @classmethod
    def from_document(cls, document: object, deployment: Deployment) -> Issued:
        """Read what a service sent, and refuse what does not fit its deployment."""
        if not isinstance(document, dict):
            raise InputError("assignment", document, "an object")
        if document.get("deployment") != deployment.digest:
            raise InputError("deployment", document.get("deployment"), deployment.digest)
        return cls(
            deployment.digest,
            _count("version", document.get("version")),
            _count("assignment", document.get("assignment")),
            Assignment(
                _policy(document.get("policy"), deployment),
                questions=_questions(document.get("questions"), deployment),
            ),
        )


def question_documents(assignment: Assignment) -> list[dict[str, Any]]:
    """Return an assignment's questions as JSON."""
    return [asked.document() for asked in assignment.questions]


def report_document(report_id: str, issued: Issued, values: list[int]) -> dict[str, Any]:
    """Return a report as JSON: all that ever leaves the user."""
    return {
        "id": report_id,
        "deployment": issued.deployment,
        "version": issued.version,
        "assignment": issued.index,
        "values": values,
    }


def _count(field: str, value: object) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise InputError(field, value, "a whole number ≥ 0")
    return value


def _policy(value: object, deployment: Deployment) -> np.ndarray[Any, np.dtype[np.int64]]:
    shape = deployment.shape
    expected = f"{shape.horizon} lists of {shape.states} actions from 0 to {shape.actions - 1}"
    rows = value if isinstance(value, list) else []
    cells = [cell for row in rows if isinstance(row, list) for cell in row]
    fits = len(rows) == shape.horizon and all(
        isinstance(row, list) and len(row) == shape.states for row in rows
    )
    if not fits or not all(type(cell) is int and 0 <= cell < shape.actions for cell in cells):
        raise InputError("policy", value, expected)
    return np.array(rows, dtype=np.int64)


def _questions(value: object, deployment: Deployment) -> tuple[Question, ...]:
    mechanism = deployment.built
    count = mechanism.answers if mechanism.questions() else 0
    if not isinstance(value, list) or len(value) != count:
        raise InputError("questions", value, f"a list of {count}")
    return tuple(_question(f"questions[{i}]", asked, deployment) for i, asked in enumerate(value))


def _question(field: str, value: object, deployment: Deployment) -> Question:
    question = Question.from_document(field, value, deployment.shape)
    possible = deployment.built.questions()
    if (question.what, question.step) not in possible:
        kinds = sorted({what.kind for what, _ in possible})
        raise InputError(f"{field}.kind", question.kind, " or ".join(kinds))
    return question
