"""A user's own draw from a plan."""

from __future__ import annotations

import copy
from collections import Counter
from typing import Any

import pytest

from ldprl.errors import InputError
from ldprl.mechanisms.sampling import InsecureSource
from ldprl.protocol.plan import draw
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


def _huge(whole: dict[str, Any]) -> None:
    whole["report_bytes"] = 2**30


def _partition(whole: dict[str, Any]) -> None:
    for part in whole["assignments"]:
        part["questions"][0]["where"] = [0, 0]


def _kind(whole: dict[str, Any]) -> None:
    for part in whole["assignments"]:
        part["questions"][0]["kind"] = "name and address"


def _more(whole: dict[str, Any]) -> None:
    for part in whole["assignments"]:
        part["questions"] *= 2


def _other(whole: dict[str, Any]) -> None:
    whole["deployment"] = "0" * 64


@pytest.mark.parametrize(
    "change", [_without, _share, _negative, _huge, _partition, _kind, _more, _other]
)
def test_a_plan_that_the_crowd_was_not_computed_for_is_refused(change: Any) -> None:
    found, _ = deployment(3)
    whole = copy.deepcopy(plan(found))
    draw(whole, found, InsecureSource(0))
    change(whole)
    with pytest.raises(InputError):
        draw(whole, found, InsecureSource(0))
