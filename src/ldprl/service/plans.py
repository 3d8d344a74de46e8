"""A plan in the database and in memory, and which assignment of it a report id gets."""

from __future__ import annotations

import bisect
import hmac
import itertools
from dataclasses import dataclass
from typing import Any

import msgspec

from ldprl.assignment import Assignment, Plan, check_plan
from ldprl.mechanisms.codec import ReportCodec
from ldprl.mechanisms.mechanism import Mechanism
from ldprl.policies.policy import MOST_POLICIES, PolicyDistribution, check_number
from ldprl.protocol.deployment import Deployment
from ldprl.protocol.messages import Issued, longest_report
from ldprl.protocol.public_plan import plan_bytes
from ldprl.service.database.protocol import StoredPlan

_PADDING = 64
"""Sealed reports are padded to a multiple of this many bytes."""


@dataclass(frozen=True, eq=False)
class PublishedPlan:
    """A version of the policy as the request path needs it, with its responses ready."""

    version: int
    users: int
    """How many reports there were when it was made."""
    plan: Plan
    codecs: tuple[ReportCodec, ...]
    """What a report under each assignment may hold."""
    bounds: tuple[int, ...]
    """Cumulated shares, in units of 2⁻⁶⁴."""
    ready: tuple[bytes, ...]
    """Each assignment as a user receives it, in JSON, with the law if there is one; empty where the
    law is longer than any table, as nobody receives it then."""
    whole: bytes
    """The public plan, as :func:`~ldprl.protocol.public_plan.plan_bytes` writes it."""
    deployment: Deployment

    def drawn(self, report_id: str, secret: bytes) -> int:
        """Return the assignment of a report id: random, in its share, and not the user's choice."""
        text = f"{self.version}:{report_id}".encode()
        digest = hmac.digest(secret, text, "sha256")
        place = int.from_bytes(digest[:8], "big")
        return min(bisect.bisect_right(self.bounds, place), len(self.bounds) - 1)

    def has(self, index: int, number: int | None) -> bool:
        """Say whether a user can have this assignment and number."""
        if not 0 <= index < len(self.plan):
            return False
        if not self.plan[index].numbered:
            return number is None
        return number is not None and 0 <= number < MOST_POLICIES

    def response(self, index: int, number: int | None) -> bytes:
        """Return what a user who drew ``number`` receives: the policy or the law, if shorter."""
        ready = self.ready[index]
        if not self.plan[index].numbered:
            return ready
        number = check_number("number", number)
        as_policy = _written(self.deployment, self.version, index, self.plan[index], number)
        # The law with the user's number: one field more than what is ready.
        more = b',"number":%d}' % number
        shorter = ready and len(ready) - 1 + len(more) <= len(as_policy)
        return ready[:-1] + more if shorter else as_policy

    def public(self, index: int) -> bytes:
        """Write an assignment as anybody may see it: the law, and nobody's policy."""
        return self.ready[index] or _written(self.deployment, self.version, index, self.plan[index])

    def draws(self, index: int) -> int:
        """Return how many random numbers are drawn to respond to one user, 0 where none are."""
        law = self.plan[index].distribution
        return 0 if law is None else law.draws


def published_plan(stored: StoredPlan, deployment: Deployment) -> PublishedPlan:
    """Make a stored plan ready to be served."""
    plan = plan_from(stored.assignments, deployment.built)
    built = deployment.built

    def ready(index: int, one: Assignment) -> bytes:
        law = one.distribution
        if law is not None and not law.short:
            return b""
        return _written(deployment, stored.version, index, one)

    whole = {
        "deployment": deployment.digest,
        "version": stored.version,
        "users": stored.users,
        **(
            {}
            if deployment.shuffle is None
            else {"report_bytes": report_bytes(stored, plan, deployment)}
        ),
        "assignments": [
            {"share": one.share}
            | _policy(plan, i)
            | {"questions": [built.question_document(asked) for asked in one.questions]}
            for i, one in enumerate(plan)
        ],
    }
    cumulated = itertools.accumulate(one.share for one in plan)
    return PublishedPlan(
        version=stored.version,
        users=stored.users,
        plan=plan,
        codecs=codecs(plan, deployment),
        bounds=tuple(int(share * 2**64) for share in cumulated),
        ready=tuple(ready(i, one) for i, one in enumerate(plan)),
        whole=plan_bytes(whole),
        deployment=deployment,
    )


def _written(
    deployment: Deployment, version: int, index: int, one: Assignment, number: int | None = None
) -> bytes:
    issued = Issued(deployment.digest, version, index, one, number)
    return msgspec.json.encode(issued.document(deployment.built))


def report_bytes(stored: StoredPlan, plan: Plan, deployment: Deployment) -> int:
    """Return the one length to which reports under this plan are padded before they are sealed."""
    return -(-longest_under(plan, stored.version, deployment) // _PADDING) * _PADDING


def longest_under(plan: Plan, version: int, deployment: Deployment) -> int:
    """Return how many bytes the longest report under a plan has, whatever is drawn."""
    longest = 0
    for index, (one, letters) in enumerate(zip(plan, codecs(plan, deployment), strict=True)):
        last = MOST_POLICIES - 1 if one.numbered else None
        issued = Issued(deployment.digest, version, index, one, last)
        longest = max(longest, longest_report(issued, letters))
    return longest


def codecs(plan: Plan, deployment: Deployment) -> tuple[ReportCodec, ...]:
    """Return what a report under each assignment may hold; large ones are made once."""
    known: dict[tuple[int, ...], ReportCodec] = {}

    def of(one: Assignment) -> ReportCodec:
        if one.distribution is not None:
            return deployment.built.codec(one)
        sizes = tuple(question.items for question in one.questions)
        return known.setdefault(sizes, deployment.built.codec(one))

    return tuple(of(one) for one in plan)


def plan_text(plan: Plan) -> str:
    """Write a plan as JSON; a float's text reads back as the same float."""
    return msgspec.json.encode(
        [
            {"share": one.share}
            | _policy(plan, i)
            | {
                "questions": [question.document() for question in one.questions],
                "weights": [question.kept for question in one.questions],
            }
            for i, one in enumerate(plan)
        ]
    ).decode()


def _policy(plan: Plan, index: int) -> dict[str, Any]:
    """Return an assignment's policy, or its law; further ones that have a law name the first."""
    law = plan[index].distribution
    if law is None:
        return {"policy": plan[index].policy.document()}
    first = next(i for i, one in enumerate(plan) if one.distribution is law)
    return {"law": law.document() if first == index else first}


def plan_from(text: str, mechanism: Mechanism) -> Plan:
    """Read what :func:`plan_text` wrote, and check it."""
    parts, problem = msgspec.json.decode(text), mechanism.problem
    laws: dict[int, PolicyDistribution] = {}
    for i, part in enumerate(parts):
        if "law" in part:
            law = part["law"]
            laws[i] = laws[law] if type(law) is int else problem.read_distribution(law)
    plan = tuple(_assignment(part, mechanism, laws.get(i)) for i, part in enumerate(parts))
    return check_plan(plan, problem)


def public_assignment(stored: StoredPlan, index: int, deployment: Deployment) -> bytes:
    """Write one assignment of a stored plan as anybody may see it; nothing else of it is read."""
    parts = msgspec.json.decode(stored.assignments, type=list[msgspec.Raw])
    part = msgspec.json.decode(parts[index])
    law = part.get("law")
    if type(law) is int:
        law = msgspec.json.decode(parts[law])["law"]
    drawn_from = None if law is None else deployment.problem.read_distribution(law)
    one = _assignment(part, deployment.built, drawn_from)
    return _written(deployment, stored.version, index, one)


def _assignment(
    part: dict[str, Any], mechanism: Mechanism, law: PolicyDistribution | None
) -> Assignment:
    questions = tuple(
        mechanism.read_question("questions", asked, kept)
        for asked, kept in zip(part["questions"], part["weights"], strict=True)
    )
    policy = mechanism.problem.read_policy(part["policy"]) if law is None else law
    return Assignment(policy, part["share"], questions)
