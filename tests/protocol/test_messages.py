"""Assignments and reports over the wire: there and back, or refused."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from ldprl import Assignment, InputError
from ldprl.partition import Partition
from ldprl.policies.tables import TableDistribution
from ldprl.protocol.deployment import Deployment
from ldprl.protocol.messages import REPORT_ID, Issued, report_document
from ldprl.structure import Structure

from .deployments import EVERY, SHAPE


def assignments(deployment: Deployment) -> list[Assignment]:
    shape = deployment.shape
    policy = np.arange(shape.horizon * shape.states) % shape.actions
    table = policy.reshape(shape.horizon, shape.states)
    return list(deployment.built.ask((Assignment(table),)))


def first_document(deployment: Deployment) -> dict[str, Any]:
    issued = Issued(deployment.digest, 1, 0, assignments(deployment)[0])
    return issued.document(deployment.built)


@pytest.mark.parametrize("kind", EVERY)
def test_there_and_back(kind: str) -> None:
    deployment = EVERY[kind]
    for index, assignment in enumerate(assignments(deployment)):
        issued = Issued(deployment.digest, 7, index, assignment)
        written = issued.document(deployment.built)
        found = Issued.from_document(json.loads(json.dumps(written)), deployment)
        assert found.document(deployment.built) == written
        assert np.array_equal(found.assignment.table, assignment.table)
        for one, other in zip(found.assignment.questions, assignment.questions, strict=True):
            assert (one.kind, one.step) == (other.kind, other.step)


def test_weights_and_shares_stay_with_the_service() -> None:
    deployment = EVERY["subset-selection"]
    document = first_document(deployment)
    assert sorted(document) == ["assignment", "deployment", "policy", "questions", "version"]
    assert [sorted(asked) for asked in document["questions"]] == [["kind", "step"]]


def test_a_report_holds_five_things() -> None:
    deployment = EVERY["laplace"]
    issued = Issued(deployment.digest, 7, 0, assignments(deployment)[0])
    assert report_document("0" * 32, issued, [1, -2]) == {
        "id": "0" * 32,
        "deployment": deployment.digest,
        "version": 7,
        "assignment": 0,
        "values": [1, -2],
    }


CHANGES: list[tuple[dict[str, Any], str]] = [
    ({"deployment": "0" * 64}, "deployment"),
    ({"deployment": None}, "deployment"),
    ({"version": "1"}, "version"),
    ({"version": True}, "version"),
    ({"version": -1}, "version"),
    ({"assignment": 1.0}, "assignment"),
    ({"policy": None}, "policy"),
    ({"policy": [[0, 0, 0]] * 3}, "policy"),
    ({"policy": [[0, 0]] * 4}, "policy"),
    ({"policy": [[0, 0, 2]] * 4}, "policy"),
    ({"policy": [[0, 0, -1]] * 4}, "policy"),
    ({"policy": [[0, 0, True]] * 4}, "policy"),
    ({"policy": [[0, 0, 0.0]] * 4}, "policy"),
    ({"policy": [0, 0, 0, 0]}, "policy"),
    ({"questions": None}, "questions"),
    ({"questions": []}, "questions"),
    ({"questions": {"kind": "reward", "step": 0}}, "questions"),
    ({"questions": [None]}, "questions[0]"),
    ({"questions": [{"kind": "salary", "step": 0}]}, "questions[0].kind"),
    ({"questions": [{"kind": "reward", "step": -1}]}, "questions[0].step"),
    ({"questions": [{"kind": "reward", "step": 4}]}, "questions[0].step"),
    ({"questions": [{"kind": "transition", "step": 3}]}, "questions[0].step"),
    ({"questions": [{"kind": "joint", "step": 0}]}, "questions[0].kind"),
    ({"questions": [{"kind": "reward", "step": step} for step in (0, 1)]}, "questions"),
]


@pytest.mark.parametrize(("change", "field"), CHANGES)
def test_what_does_not_fit_is_named(change: dict[str, Any], field: str) -> None:
    deployment = EVERY["separate"]
    document = first_document(deployment)
    with pytest.raises(InputError) as refused:
        Issued.from_document(document | change, deployment)
    assert refused.value.field == field


def test_a_question_where_none_is_asked() -> None:
    deployment = EVERY["laplace"]
    document = first_document(deployment)
    with pytest.raises(InputError, match=r"questions = .*a list of 0"):
        Issued.from_document(document | {"questions": [{"kind": "reward", "step": 0}]}, deployment)


@pytest.mark.parametrize("steps", [(0,), (0, 1, 2), (1, 1), ()])
def test_more_questions_than_epsilon_pays_for(steps: tuple[int, ...]) -> None:
    """And fewer, and two about one step."""
    deployment = EVERY["two answers"]
    document = first_document(deployment)
    asked = [{"kind": "reward", "step": step} for step in steps]
    with pytest.raises(InputError, match="questions = "):
        Issued.from_document(document | {"questions": asked}, deployment)


@pytest.mark.parametrize("document", [None, [], 3, "policy"])
def test_what_is_no_assignment(document: object) -> None:
    with pytest.raises(InputError, match="assignment = "):
        Issued.from_document(document, EVERY["laplace"])


@pytest.mark.parametrize(
    ("text", "fits"),
    [("0" * 32, True), ("0" * 31, False), ("0" * 33, False), ("A" * 32, False), ("g" * 32, False)],
)
def test_ids(text: str, fits: bool) -> None:
    assert bool(REPORT_ID.fullmatch(text)) == fits


def test_a_question_about_groups_brings_the_integers_that_hide_it() -> None:
    """As they are: others could say more than ε allows."""
    deployment = EVERY["separate"]
    (asked, *_) = assignments(deployment)[0].questions
    where = Partition.from_document("where", [0, 1, 1], 3)
    question = deployment.built.question_document(replace(asked, where=where))
    document = first_document(deployment) | {"questions": [question]}
    Issued.from_document(document, deployment)
    for key, value in (("threshold", str(int(question["threshold"]) + 1)), ("size", 2)):
        with pytest.raises(InputError) as refused:
            Issued.from_document(document | {"questions": [question | {key: value}]}, deployment)
        assert refused.value.field == f"questions[0].{key}"


def test_inadmissible_actions_are_refused() -> None:
    """In a table, and in a law by which somebody could get one."""
    structure = Structure.from_document({"admissible": [[0], [0, 1], [1]]}, SHAPE)
    deployment = Deployment("tests", SHAPE, "1.5", structure=structure)
    document = first_document(EVERY["subset-selection"]) | {"deployment": deployment.digest}
    Issued.from_document(document | {"policy": [[0, 1, 1]] * 4}, deployment)
    with pytest.raises(InputError, match="policy"):
        Issued.from_document(document | {"policy": [[0, 1, 1]] * 3 + [[0, 1, 0]]}, deployment)
    half = TableDistribution.of(SHAPE, np.full((1, 3, 2), 0.5), "0" * 32).document()
    with pytest.raises(InputError, match=r"law\.weights"):
        Issued.from_document(document | {"law": half, "table": 0}, deployment)
