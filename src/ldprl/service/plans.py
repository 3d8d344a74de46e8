"""A plan in the database and in memory, and which assignment of it a report id gets."""

from __future__ import annotations

import bisect
import hashlib
import hmac
import itertools
import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ldprl.assignment import Assignment, Plan
from ldprl.protocol.alphabet import Alphabet, alphabet
from ldprl.protocol.deployment import Deployment
from ldprl.protocol.messages import Issued, question_documents
from ldprl.questions.question import Question
from ldprl.service.store.protocol import StoredPlan, Sum
from ldprl.shape import Shape


@dataclass(frozen=True, eq=False)
class Edition:
    """A version of the policy as the request path needs it, with all answers ready.

    Attributes
    ----------
    version, users
        Which plan it is, and from how many reports it was made.
    plan
        Its assignments.
    alphabets
        What a report under each assignment may hold.
    bounds
        Cumulated shares, in units of 2⁻⁶⁴.
    answers
        Each assignment as a user receives it, in JSON.
    whole
        The public plan, in JSON.
    """

    version: int
    users: int
    plan: Plan
    alphabets: tuple[Alphabet, ...]
    bounds: tuple[int, ...]
    answers: tuple[bytes, ...]
    whole: bytes

    def index_of(self, report_id: str, secret: bytes) -> int:
        """Return the assignment of a report id: random in its share, and not the user's choice."""
        text = f"{self.version}:{report_id}".encode()
        place = int.from_bytes(hmac.digest(secret, text, "sha256")[:8], "big")
        return min(bisect.bisect_right(self.bounds, place), len(self.bounds) - 1)


def edition(stored: StoredPlan, deployment: Deployment) -> Edition:
    """Make a stored plan ready to be served."""
    plan = plan_from(stored.assignments, deployment.shape)
    digest = deployment.digest
    parts = [Issued(digest, stored.version, i, one).document() for i, one in enumerate(plan)]
    whole = {
        "deployment": digest,
        "version": stored.version,
        "users": stored.users,
        "assignments": [
            {"share": one.share, "policy": part["policy"], "questions": part["questions"]}
            for one, part in zip(plan, parts, strict=True)
        ],
    }
    cumulated = itertools.accumulate(one.share for one in plan)
    return Edition(
        version=stored.version,
        users=stored.users,
        plan=plan,
        alphabets=alphabets(plan, deployment),
        bounds=tuple(int(share * 2**64) for share in cumulated),
        answers=tuple(json.dumps(part).encode() for part in parts),
        whole=json.dumps(whole).encode(),
    )


def alphabets(plan: Plan, deployment: Deployment) -> tuple[Alphabet, ...]:
    """Return what a report under each assignment may hold: the same for questions as large."""
    sizes = [tuple(question.items for question in one.questions) for one in plan]
    known = {
        size: alphabet(deployment.built, one)
        for size, one in dict(zip(sizes, plan, strict=True)).items()
    }
    return tuple(known[size] for size in sizes)


def plan_text(plan: Plan) -> str:
    """Write a plan as JSON; a float's text reads back as the same float."""
    return json.dumps(
        [
            {
                "share": one.share,
                "policy": one.policy.tolist(),
                "questions": question_documents(one),
                "weights": [question.weights.tolist() for question in one.questions],
            }
            for one in plan
        ]
    )


def plan_from(text: str, shape: Shape) -> Plan:
    """Read what :func:`plan_text` wrote."""
    return tuple(_assignment(part, shape) for part in json.loads(text))


def _assignment(part: dict[str, Any], shape: Shape) -> Assignment:
    questions = tuple(
        Question.from_document("questions", asked, shape, np.array(weights))
        for asked, weights in zip(part["questions"], part["weights"], strict=True)
    )
    return Assignment(np.array(part["policy"], dtype=np.int64), part["share"], questions)


def sums_digest(sums: Sequence[Sum]) -> str:
    """Return a SHA-256 by which the sums that a plan was made from are known again."""
    digest = hashlib.sha256()
    for one in sums:
        digest.update(f"{one.version}:{one.assignment}:{one.users}:".encode())
        digest.update(one.tally.astype("<i8").tobytes())
    return digest.hexdigest()
