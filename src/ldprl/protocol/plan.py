"""A whole plan as a relay hands it out, and the user's own draw from it."""

from __future__ import annotations

import math

from ldprl.errors import InputError, whole_number
from ldprl.mechanisms.sampling import RandomSource
from ldprl.protocol.deployment import Deployment
from ldprl.protocol.messages import Issued
from ldprl.protocol.sealing import LARGEST_REPORT
from ldprl.tables import TableLaw


def draw(document: object, deployment: Deployment, source: RandomSource) -> tuple[Issued, int]:
    """Draw an assignment by the plan's shares; nobody else learns which.

    Return it with the length to which every report is padded. The whole plan is checked, not the
    drawn part alone: what the others are asked is what one's own report hides behind.
    """
    if not isinstance(document, dict):
        raise InputError("plan", document, "an object")
    parts = document.get("assignments")
    if not isinstance(parts, list) or not parts or not all(isinstance(p, dict) for p in parts):
        raise InputError("plan.assignments", parts, "a list of assignments")
    size = whole_number("plan.report_bytes", document.get("report_bytes"), 1, LARGEST_REPORT)
    shares = [part.get("share") for part in parts]
    if not all(isinstance(share, int | float) and 0 <= share <= 1 for share in shares):
        raise InputError("plan.shares", shares[:10], "shares from 0 to 1")
    if abs(math.fsum(shares) - 1) > 1e-6:
        raise InputError("plan.shares", math.fsum(shares), "shares that sum to 1")
    _check_questions(parts, deployment)
    place = int(source.words(1)[0]) / 2**64 * math.fsum(shares)
    index = 0
    while index + 1 < len(shares) and place >= shares[index]:
        place -= shares[index]
        index += 1
    part = {key: document.get(key) for key in ("deployment", "version")} | parts[index]
    if "law" in part:
        part["law"] = _law(parts, index)
        part["table"] = source.below(TableLaw.from_document(part["law"], deployment.shape).count)
    return Issued.from_document(part | {"assignment": index}, deployment), size


def _law(parts: list[dict[str, object]], index: int) -> object:
    """Return the law of a part: its own, or that of the earlier part which it names by number."""
    law = parts[index]["law"]
    if isinstance(law, dict):
        return law
    if type(law) is not int or not 0 <= law < index or not isinstance(parts[law].get("law"), dict):
        raise InputError("plan.law", law, "a law, or the number of an earlier part that has one")
    return parts[law]["law"]


def _check_questions(parts: list[dict[str, object]], deployment: Deployment) -> None:
    """Refuse a plan that asks anybody what the deployment's crowd was not computed for."""
    mechanism = deployment.built
    kinds = {what.kind for what, _ in mechanism.askable()}
    count = mechanism.answers if kinds else 0
    for part in parts:
        asked = part.get("questions")
        if not isinstance(asked, list) or len(asked) != count:
            raise InputError("plan.questions", asked, f"a list of {count}")
        for question in asked:
            if not isinstance(question, dict) or question.get("kind") not in kinds:
                raise InputError("plan.questions", question, " or ".join(sorted(kinds)))
            if "where" in question:
                expected = "no partition of its own: the crowd was computed without it"
                raise InputError("plan.questions", question, expected)
