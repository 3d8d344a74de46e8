"""Where every byte is fixed: reports, numbers, policies and digests."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import numpy as np

from ldprl.assignment import Assignment
from ldprl.conformance.replayed import ReplayedSourceForTests
from ldprl.conformance.scripted import Scripted, running
from ldprl.conformance.subject import (
    NUMBER_BYTES,
    Check,
    Script,
    Subject,
    bytes_for,
    checked,
    expected,
    path_of,
)
from ldprl.mechanisms.by_name import for_tables
from ldprl.policies.policy import MOST_POLICIES
from ldprl.policies.tables import TableDistribution
from ldprl.protocol.deployment import Deployment
from ldprl.protocol.messages import Issued
from ldprl.shape import Shape


def exact(subject: Subject) -> Iterator[Check]:
    """Yield the checks of exact bytes."""
    yield from _reports(subject)
    yield from _episodes(subject)
    if "laws" in subject.supports:
        yield from _laws(subject)


def _reports(subject: Subject) -> Iterator[Check]:
    by_mechanism: dict[str, tuple[list[str], int]] = {}
    for case in subject.deployments():
        document = case["document"]
        wrong, reports = by_mechanism.get(document["mechanism"], ([], 0))
        for place, report in enumerate(case["reports"]):
            asked = {key: report[key] for key in report if key != "values"}
            answer = subject.program.call("draw", document=document, count=1, **asked)
            wanted = {"reports": [report["values"]], "used": len(report["bytes"]) // 2}
            if any(answer.get(key) != wanted[key] for key in wanted):
                wrong.append(f"{document['name']!r}, report {place}: {different(answer, wanted)}")
        by_mechanism[document["mechanism"]] = wrong, reports + len(case["reports"])
    for mechanism, (wrong, count) in by_mechanism.items():
        yield checked(f"reports of {mechanism}", wrong, f"{count} vectors, byte for byte")


def _episodes(subject: Subject) -> Iterator[Check]:
    wrong: list[str] = []
    played = 0
    for case in subject.deployments():
        deployment = Deployment.from_document(case["document"])
        if deployment.shuffle is not None:
            continue
        reports = case["reports"]
        for turn, report in enumerate((reports[0], reports[-1])):
            # A user of two leaves after the first step.
            script = path_of(deployment, turn)
            script.rewards = script.rewards[: 0 if turn else None]
            wrong += played_wrong(subject, deployment, report["assignment"], script, turn)
            played += 1
    done = f"{played} episodes: digest, number, actions, and the report as it was sent"
    yield checked("whole episodes", wrong, done)


def _laws(subject: Subject) -> Iterator[Check]:
    """Tables that follow from a seed and a number, in every shape of law."""
    able = [name for name in for_tables() if name in subject.supports]
    wrong: list[str] = []
    played = 0
    for vector in subject.vectors["tables"] if able else ():
        deployment = Deployment("laws", Shape(**vector["shape"]), "2", able[0])
        law = TableDistribution.from_document(vector["law"], deployment.shape)
        one = deployment.built.ask((Assignment(law),))[0]
        document = Issued(deployment.digest, 1, 0, one).document(deployment.built)
        for turn in range(2):
            script = path_of(deployment, turn + vector["number"] % 5)
            number = vector["number"]
            given = document | {"number": number}
            wrong += played_wrong(subject, deployment, given, script, turn)
            played += 1
    if able:
        yield checked("tables of laws", wrong, f"{played} episodes under tables from a seed")


def played_wrong(
    subject: Subject,
    deployment: Deployment,
    document: dict[str, Any],
    script: Script,
    turn: int,
) -> Iterator[str]:
    """Yield what a program does otherwise than Python's client, from the same bytes."""
    number = document.get("number", (MOST_POLICIES - 1, 5)[turn])
    name = f"{deployment.name!r} with number {number}"
    content = bytes_for(number, name)
    service = Scripted(deployment.document, lambda _: document)
    with running(service):
        answer = subject.take_part(service, script, bytes=content)
    source = ReplayedSourceForTests(bytes.fromhex(content)[NUMBER_BYTES:])
    wanted = expected(deployment, document, number, script, source)
    if answer.get("status") != "counted":
        yield f"{name}: {str(answer)[:200]}"
        return
    if service.numbers != [number] and deployment.shuffle is None:
        yield f"{name}: asked for number {service.numbers}, not {number}"
    if not same(answer["actions"], wanted.actions):
        yield f"{name}: advised {str(answer['actions'])[:80]}, not {str(wanted.actions)[:80]}"
    if answer["used"] != NUMBER_BYTES + wanted.used:
        yield f"{name}: {answer['used']} random bytes, not {NUMBER_BYTES + wanted.used}"
    yield from sent_wrong(name, service.bodies, document, wanted.values)


def sent_wrong(
    name: str,
    bodies: list[bytes],
    document: dict[str, Any],
    values: list[int],
) -> Iterator[str]:
    """Yield how what was sent differs from one report with these values."""
    if len(bodies) != 1:
        yield f"{name}: {len(bodies)} reports were sent"
        return
    report = json.loads(bodies[0])
    names = ("deployment", "version", "assignment", "number")
    said = {key: document[key] for key in names if key in document} | {"values": values}
    if set(report) != {"id", *said}:
        yield f"{name}: a report of {sorted(report)}"
    elif any(report[key] != said[key] for key in said):
        yield f"{name}: sent {different(report, said)}"
    elif not re.fullmatch("[0-9a-f]{32}", str(report["id"])):
        yield f"{name}: an id of {report['id']!r}"


def different(found: dict[str, Any], wanted: dict[str, Any]) -> str:
    """Return what of ``wanted`` was found otherwise, or the error in its place."""
    if "error" in found:
        return str(found)[:200]
    keys = [key for key in wanted if found.get(key) != wanted[key]]
    return ", ".join(
        f"{key} {str(found.get(key))[:90]}, not {str(wanted[key])[:90]}" for key in keys
    )


def same(found: Any, wanted: list[Any]) -> bool:
    """Whether actions are the same: numbers of choices, or lists of numbers."""
    return np.shape(found) == np.shape(wanted) and bool(np.all(np.equal(found, wanted)))
