"""A whole plan as a relay hands it out, and the user's own draw from it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from ldprl.assignment import Assignment, Plan
from ldprl.errors import InputError, whole_number
from ldprl.mechanisms.sampling import RandomSource
from ldprl.policies.policy import MOST_POLICIES, Policy, PolicyDistribution
from ldprl.protocol.deployment import Deployment
from ldprl.protocol.messages import (
    Issued,
    longest_report,
    read_policy,
    read_questions,
    read_version,
)
from ldprl.protocol.sealing import LARGEST_REPORT


def draw(document: object, deployment: Deployment, source: RandomSource) -> tuple[Issued, int]:
    """Draw an assignment by the plan's shares; nobody else learns which.

    Return it with the length to which every report is padded. The whole plan is checked, not the
    drawn part alone: what the others are asked is what one's own report hides behind.
    """
    if not isinstance(document, dict):
        raise InputError("plan", document, "an object")
    if document.get("deployment") != deployment.digest:
        raise InputError("plan.deployment", document.get("deployment"), deployment.digest)
    plan, version = _read(document.get("assignments"), deployment), read_version(document)
    size = whole_number("plan.report_bytes", document.get("report_bytes"), 1, LARGEST_REPORT)
    for index, one in _longest(plan):
        last = MOST_POLICIES - 1 if one.numbered else None
        check_room(Issued(deployment.digest, version, index, one, last), size, deployment)
    shares = [one.share for one in plan]
    place = int(source.words(1)[0]) / 2**64 * math.fsum(shares)
    index = 0
    while index + 1 < len(shares) and place >= shares[index]:
        place -= shares[index]
        index += 1
    number = source.below(MOST_POLICIES) if plan[index].numbered else None
    return Issued(deployment.digest, version, index, plan[index].drawn(number), number), size


def check_room(issued: Issued, size: int, deployment: Deployment) -> None:
    """Refuse a plan whose reports may be longer than it has them padded to.

    Before anything is drawn: who fails to send the long reports says which ones they are.
    """
    least = longest_report(issued, deployment.built.codec(issued.assignment))
    if size < least:
        expected = f"at least {least}, the longest report of assignment {issued.index}"
        raise InputError("plan.report_bytes", size, expected)


def _longest(plan: Plan) -> list[tuple[int, Assignment]]:
    """Return one of those assignments whose reports differ in their numbers' length alone.

    It is the last one, whose own number is the longest.
    """
    last = {
        (one.numbered, *(asked.items for asked in one.questions)): i for i, one in enumerate(plan)
    }
    return [(i, plan[i]) for i in last.values()]


def _read(parts: object, deployment: Deployment) -> Plan:
    """Return the assignments with their shares, or refuse the plan if one of them does not fit."""
    if not isinstance(parts, list) or not parts or not all(isinstance(p, dict) for p in parts):
        raise InputError("plan.assignments", parts, "a list of assignments")
    shares = [part.get("share") for part in parts]
    if not all(type(share) in (int, float) and 0 <= share <= 1 for share in shares):
        raise InputError("plan.shares", shares[:10], "shares from 0 to 1")
    if abs(math.fsum(shares) - 1) > 1e-6:
        raise InputError("plan.shares", math.fsum(shares), "shares that sum to 1")
    plan: list[Assignment] = []
    for part in parts:
        policies = _policy(part, plan, deployment)
        questions = read_questions(part.get("questions"), policies, deployment)
        if any("where" in question.document() for question in questions):
            expected = "no partition of its own: the crowd was computed without it"
            raise InputError("plan.questions", part["questions"], expected)
        plan.append(Assignment(policies, part["share"], questions))
    return tuple(plan)


def _policy(
    part: Mapping[str, Any], earlier: list[Assignment], deployment: Deployment
) -> Policy | PolicyDistribution:
    """Return a part's policy, or its law: its own, or that of the earlier part that it names."""
    law = part.get("law")
    if law is None or isinstance(law, dict):
        return read_policy(part, deployment)
    named: PolicyDistribution | None = None
    if type(law) is int and 0 <= law < len(earlier):
        named = earlier[law].distribution
    if named is None:
        expected = "a law, or the number of an earlier part that has one"
        raise InputError("plan.law", law, expected)
    return named
