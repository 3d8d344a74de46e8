"""A user's own draw from a plan."""

from __future__ import annotations

import copy
import json
from collections import Counter
from typing import Any

import numpy as np
import pytest

from ldprl.assignment import Assignment, Plan
from ldprl.errors import InputError
from ldprl.mechanisms.questions.question import Question
from ldprl.mechanisms.sampling import InsecureSource
from ldprl.policies.policy import MOST_POLICIES
from ldprl.policies.tables import TableDistribution
from ldprl.protocol.deployment import Deployment
from ldprl.protocol.messages import Issued, longest_report
from ldprl.protocol.plan import draw
from ldprl.service.database.protocol import StoredPlan
from ldprl.service.plans import plan_text, published_plan
from tests.relay.stub import deployment, plan

DRAWS = 20_000


def test_assignments_are_drawn_by_their_shares() -> None:
    """Binomial counts within 5 deviations each: type-I error below 10⁻⁶ for two assignments."""
    found, _ = deployment(3)
    whole = plan(found)
    parts = whole["assignments"]
    assert len(parts) == 2
    parts[0]["share"], parts[1]["share"] = 0.2, 0.8
    source = InsecureSource(5)
    seen = Counter(draw(whole, found, source)[0].index for _ in range(DRAWS))
    assert abs(seen[0] - 0.2 * DRAWS) < 5 * (DRAWS * 0.2 * 0.8) ** 0.5
    # The mutant that draws evenly is far outside.
    assert abs(0.5 * DRAWS - 0.2 * DRAWS) > 50 * (DRAWS * 0.2 * 0.8) ** 0.5


def _without(whole: dict[str, Any]) -> None:
    whole["assignments"] = []


def _share(whole: dict[str, Any]) -> None:
    whole["assignments"][0]["share"] = 0.9


def _negative(whole: dict[str, Any]) -> None:
    whole["assignments"][0]["share"], whole["assignments"][1]["share"] = -0.5, 1.5


def _half(whole: dict[str, Any]) -> None:
    for part in whole["assignments"]:
        part["share"] /= 2


def _huge(whole: dict[str, Any]) -> None:
    whole["report_bytes"] = 2**30


def _partition(whole: dict[str, Any]) -> None:
    """Ask about one group of all states, with an oracle that is as private as ε says."""
    found, _ = deployment(3)
    for part in whole["assignments"]:
        asked = part["questions"][0]
        asked["where"] = [0, 0]
        question = Question.from_document("", asked, found.shape)
        asked |= found.built.question_document(question)


def _kind(whole: dict[str, Any]) -> None:
    for part in whole["assignments"]:
        part["questions"][0]["kind"] = "name and address"


def _more(whole: dict[str, Any]) -> None:
    for part in whole["assignments"]:
        part["questions"] *= 2


def _other(whole: dict[str, Any]) -> None:
    whole["deployment"] = "0" * 64


@pytest.mark.parametrize(
    "change", [_without, _share, _half, _negative, _huge, _partition, _kind, _more, _other]
)
def test_a_plan_that_the_crowd_was_not_computed_for_is_refused(change: Any) -> None:
    found, _ = deployment(3)
    whole = copy.deepcopy(plan(found))
    draw(whole, found, InsecureSource(0))
    change(whole)
    with pytest.raises(InputError):
        draw(whole, found, InsecureSource(0))


def _written(found: Deployment, parts: Plan) -> dict[str, Any]:
    stored = StoredPlan(1, 0, "", 0, plan_text(parts))
    whole: dict[str, Any] = json.loads(published_plan(stored, found).whole)
    return whole


@pytest.mark.parametrize("first", ["reward", "transition"])
def test_there_is_room_for_the_longest_report_of_every_assignment(first: str) -> None:
    """Asked first is what has the longer reports, or what has the shorter ones."""
    asking = {"mechanism": "subset-selection", "layout": "separate"}
    found, _ = deployment(3, states=12, epsilon="1", **asking)
    asked = found.built.ask((Assignment(np.zeros((2, 12), dtype=np.int64)),))
    parts = tuple(sorted(asked, key=lambda one: one.questions[0].kind != first))
    issued = [Issued(found.digest, 1, index, one) for index, one in enumerate(parts)]
    room = [longest_report(one, found.built.codec(one.assignment)) for one in issued]
    assert len(set(room)) == 2
    whole = _written(found, parts)
    for size, fits in ((min(room), False), (max(room) - 1, False), (max(room), True)):
        whole["report_bytes"] = size
        if fits:
            draw(whole, found, InsecureSource(0))
        else:
            with pytest.raises(InputError, match="report_bytes"):
                draw(whole, found, InsecureSource(0))


def test_policies_of_a_law_are_drawn_evenly() -> None:
    """Binomial counts within 5 deviations: type-I error below 10⁻⁶."""
    found, _ = deployment(3, mechanism="return-bits")
    law = TableDistribution.of(found.shape, np.full((1, 2, 2), 0.5), "0" * 32)
    whole = _written(found, found.built.ask((Assignment(law),)))
    source, draws = InsecureSource(7), 2000
    numbers = [draw(whole, found, source)[0].number for _ in range(draws)]
    upper = sum(one >= MOST_POLICIES / 2 for one in numbers if one is not None)
    assert abs(upper - draws / 2) < 5 * (draws / 4) ** 0.5
