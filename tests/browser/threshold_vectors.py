"""Vectors of policies with parameters: what a return becomes, and what a client refuses."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from ldprl.assignment import Assignment
from ldprl.conformance.replayed import ReplayedSourceForTests, stream, used
from ldprl.errors import InputError
from ldprl.mechanisms.questions.returns import UNIT
from ldprl.mechanisms.questions.threshold import CELLS, Threshold
from ldprl.mechanisms.total import Total
from ldprl.policies.actions import Levels
from ldprl.policies.linear import Linear
from ldprl.policies.network import Network
from ldprl.policies.parametric import Parametric
from ldprl.policies.perturbed import Perturbed
from ldprl.policies.policy import MOST_POLICIES
from ldprl.policies.written import to_base64
from ldprl.protocol.certificate import Certified
from ldprl.protocol.deployment import Deployment
from ldprl.protocol.labels import Labels
from ldprl.protocol.messages import Issued
from ldprl.protocol.mixing import Shuffled
from ldprl.protocol.plan import draw
from tests.policies.by_hand import DOSES, FEATURES, SEED

_FALLING = tuple(UNIT - 256 * i for i in range(CELLS))
_KEY = "2fe57da347cd62431528daac5fbb290730fff684afc4cfc2ed90995f58cb3b74"
CHOICES = Linear(features=FEATURES, actions=("wait", "eat"), horizon=96, returns=("-3", "24"))
DEPLOYMENTS = [
    Deployment("thresholds", CHOICES, "1", labels=Labels("Glucose", reward="hours in range")),
    Deployment(
        "thresholds of a network",
        Network(
            features=FEATURES,
            actions=Levels(DOSES, map="clip"),
            horizon=4,
            returns=("0", "0.1"),
            hidden=(20, 3),
            spread="0.25",
            start=np.linspace(-1, 1, 6 * 20 + 20 + 21 * 3 + 4 * 2),
        ),
        "0.37",
    ),
    Deployment("worth of a policy", CHOICES, "2", certificate=Certified("0.1", "0.95")),
]
KEPT_TO = Deployment("behind a relay", CHOICES, "1", shuffle=Shuffled(1000, "0.3", "0.0001", _KEY))
_TOTALS = (-1e300, -3.0, 0.01, 0.05, 0.1, 7.0, 11.625, 13.999, 24.0, 1e308, None)


def law_of(problem: Parametric) -> Perturbed:
    """Return a law whose parameters are all spread."""
    rng = np.random.default_rng(problem.size)
    mean = rng.normal(size=problem.size).astype(np.float32)
    return Perturbed(problem, SEED, mean, np.full(problem.size, problem.spread, dtype=np.float32))


def asked(problem: Parametric) -> list[Threshold]:
    """Return narrow and wide ranges of thresholds, at an end of the returns and inside."""
    ends = [(0, UNIT), (UNIT // 3, UNIT // 2), (0, 1), (UNIT - 1, UNIT)]
    return [Threshold(low, high, _FALLING) for low, high in ends]


def reports(deployment: Deployment) -> Iterator[dict[str, Any]]:
    """Return users who draw a number, whether they receive the law or their own policy."""
    problem, mechanism = deployment.problem, deployment.built
    assert isinstance(problem, Parametric)
    law = law_of(problem)
    wide = next(number for number in range(1, 1000) if law.public_words([number])[1][0])
    questions = asked(problem) if deployment.certificate is None else [Threshold.of_worth()]
    for index, question in enumerate(questions):
        for place, number in enumerate((0, wide, MOST_POLICIES - 1)):
            one = Assignment(law, 1.0, (question,))
            issued = Issued(deployment.digest, 7, index, one, number)
            document = issued.document(mechanism)
            if place == 0:
                whole = replace(issued, number=None).document(mechanism)
                document = whole | {"number": number}
            for total in _TOTALS[place::3]:
                source = stream(f"{deployment.digest} {index} {number} {total}")
                report = mechanism.privatize(Total(total), one.drawn(number), source)
                yield {
                    "assignment": document,
                    "total": total,
                    "bytes": used(source),
                    "values": mechanism.codec(one).write(report),
                }


def changed(good: dict[str, Any], part: int | None, change: dict[str, Any]) -> dict[str, Any]:
    """Return an assignment, or a plan with one part, with other fields; None: not there."""
    result = copy.deepcopy(good)
    place = result if part is None else result["assignments"][part]
    place.update(change)
    for key in [key for key, value in change.items() if value is None]:
        place.pop(key, None)
    return result


def hostile() -> Iterator[tuple[str, int | None, dict[str, Any]]]:
    """Return what a service may change for somebody, so that it no longer fits."""
    for change in _changes():
        yield "assignment", None, change
    for part in (0, 1):
        for change in _changes():
            # What only the one who draws a number is told is in no plan.
            if set(change) != {"number"}:
                yield "plan", part, change
    for law in (1, 5, -1):
        yield "plan", 1, {"law": law}
    yield "plan", 1, {"share": 0.25}
    yield "plan", None, {"report_bytes": 150}
    policy = CHOICES.stated()["policy"]
    for other in (
        {"kind": "network", "hidden": [31_622, 31_622]},
        {"returns": ["1", "1"]},
        {"spread": "0"},
        {"kind": "unheard:Of"},
    ):
        yield "deployment", None, {"policy": policy | other}


def good_assignment() -> dict[str, Any]:
    """Return the law and a question, for a user who drew the number 5."""
    one = Assignment(law_of(CHOICES), 1.0, (Threshold(0, UNIT, _FALLING),))
    issued = Issued(KEPT_TO.digest, 7, 0, one)
    document: dict[str, Any] = json.loads(json.dumps(issued.document(KEPT_TO.built)))
    return document | {"number": 5}


def good_plan() -> dict[str, Any]:
    """Return a plan of two parts: the same law and question twice."""
    document = good_assignment()
    part = {"share": 0.5, "law": document["law"], "questions": document["questions"]}
    return {
        "deployment": KEPT_TO.digest,
        "version": 7,
        "report_bytes": 400,
        "assignments": [part, copy.deepcopy(part)],
    }


def refusals() -> dict[str, Any]:
    """Return what is refused, with the field that Python names; nothing of it is taken."""
    return {
        "document": KEPT_TO.document,
        "assignment": good_assignment(),
        "plan": good_plan(),
        "refused": [
            {"field": _refused(kind, part, change), "kind": kind, "part": part, "change": change}
            for kind, part, change in hostile()
        ],
    }


def _refused(kind: str, part: int | None, change: dict[str, Any]) -> str:
    try:
        if kind == "deployment":
            Deployment.from_document(changed(KEPT_TO.document, part, change))
        elif kind == "plan":
            # Nothing may be drawn: the source is empty.
            draw(changed(good_plan(), part, change), KEPT_TO, ReplayedSourceForTests(b""))
        else:
            Issued.from_document(changed(good_assignment(), part, change), KEPT_TO, 5)
    except InputError as refused:
        return refused.field
    raise AssertionError(f"taken: {change}")


def _changes() -> Iterator[dict[str, Any]]:
    good, size = good_assignment(), CHOICES.size
    law, question = good["law"], good["questions"][0]
    spread = np.full(size, 1.0, dtype=np.float32)
    for mean in (np.full(size, np.nan), np.full(size, np.inf), np.zeros(size - 1)):
        yield {"law": law | {"mean": to_base64(mean.astype(np.float32))}}
    for value in (spread * 1.01, -spread, spread * np.nan):
        yield {"law": law | {"spread": to_base64(value.astype(np.float32))}}
    yield {"law": law | {"seed": "0" * 31}}
    yield {"law": law | {"count": 1}}
    yield {"law": {"seed": law["seed"], "mean": law["mean"]}}
    for number in (4, 2**53, "5", True, None):
        yield {"number": number}
    for change in (
        {"own": [1, False]},
        {"own": [1]},
        {"kind": "return"},
        {"low": UNIT, "high": UNIT},
        {"low": -1},
        {"low": 0.5},
        {"high": UNIT + 1},
        {"weight": 1},
        {"baseline": [*_FALLING[:-1], UNIT]},
        {"baseline": list(_FALLING[:-1])},
        {"baseline": [UNIT + 1, *_FALLING[1:]]},
    ):
        yield {"questions": [question | change]}
    yield {"questions": []}
    yield {"questions": [question, question]}
    yield {"law": None, "number": None, "policy": {"parameters": law["mean"]}}
    yield {"law": 0.5}
