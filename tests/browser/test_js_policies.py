"""The shared vectors of policies are what Python makes of them, and cover what there is."""

from __future__ import annotations

import json

from tests.browser.make_policy_vectors import SHARED, VECTORS, text
from tests.policies.by_hand import PROBLEMS

READ = json.loads(VECTORS.read_text(encoding="utf-8"))


def test_the_file_is_up_to_date() -> None:
    assert VECTORS.read_text(encoding="utf-8") == text()


def test_all_problems_with_enough_actions() -> None:
    assert [case["name"] for case in READ["problems"]] == list(PROBLEMS | SHARED)
    assert all(case["policies"] * case["seen"] >= 10**5 for case in READ["problems"])
    assert all(case["different"] >= 3 for case in READ["problems"])


def test_the_first_document_alone_is_taken() -> None:
    fields = [case["field"] for case in READ["refusals"]]
    assert fields[0] is None
    assert None not in fields[1:]
    assert {"policy.kind", "policy.size", "hidden", "law.mean", "law.spread"} <= set(fields)
