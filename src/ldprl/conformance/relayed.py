"""A relay: the user's own draw from a plan, and a report that only the service can open."""

from __future__ import annotations

import json
from base64 import b64decode
from collections.abc import Iterator
from typing import Any

import numpy as np

from ldprl.assignment import Assignment
from ldprl.conformance.delivery import delivery
from ldprl.conformance.exact import same
from ldprl.conformance.hostile import refused
from ldprl.conformance.replayed import ReplayedSourceForTests, stream
from ldprl.conformance.scripted import Scripted, running
from ldprl.conformance.subject import Check, Subject, checked, expected, path_of
from ldprl.mechanisms.by_name import for_tables
from ldprl.protocol.deployment import Deployment
from ldprl.protocol.messages import Issued, longest_report
from ldprl.protocol.mixing import Shuffled
from ldprl.protocol.plan import draw
from ldprl.protocol.public_plan import plan_digest
from ldprl.protocol.sealing import OVERHEAD, Opener, new_private_key, opener
from ldprl.shape import Shape

_EPISODES = 40
"""Enough that a part of a plan which has a third is drawn, but with a probability of 10⁻⁷."""


def relayed(subject: Subject) -> Iterator[Check]:
    """Yield the checks of those who take part through a relay."""
    private = opener(new_private_key())
    mixed = Shuffled(1_000_000, "1", "0.01", private.key)
    able = [name for name in for_tables() if name in subject.supports]
    if able:
        deployment = Deployment("relayed", Shape(2, 3, 2), "1", able[-1], shuffle=mixed)
        plan = _plan(deployment)
        yield _sealed(subject, deployment, plan, private)
        yield _hostile(subject, deployment, plan)
        good = path_of(deployment)
        for check in delivery(subject, lambda: Scripted(deployment.document, lambda _: plan), good):
            yield check._replace(name=f"relay: {check.name}")
    yield from _known(subject)


def _plan(deployment: Deployment) -> dict[str, Any]:
    """Return a plan of two tables, each with all questions that the mechanism asks."""
    shape = deployment.shape
    tables = np.zeros((2, shape.horizon, shape.states), dtype=np.int64)
    tables[1] = 1
    parts: list[dict[str, Any]] = []
    room = 0
    for one in deployment.built.ask(tuple(Assignment(table, 0.5) for table in tables)):
        issued = Issued(deployment.digest, 7, len(parts), one)
        document = issued.document(deployment.built)
        parts.append({"share": one.share} | {key: document[key] for key in ("policy", "questions")})
        room = max(room, longest_report(issued, deployment.built.codec(one)))
    return {
        "deployment": deployment.digest,
        "version": 7,
        "users": 0,
        "report_bytes": room,
        "assignments": parts,
    }


def _sealed(
    subject: Subject, deployment: Deployment, plan: dict[str, Any], private: Opener
) -> Check:
    private = Opener(private._private, deployment.digest)
    wrong: list[str] = []
    drawn = set()
    script = path_of(deployment)
    # As it was received, and not as anybody would write it anew.
    known = plan_digest(json.dumps(plan).encode())
    for turn in range(_EPISODES):
        content = stream(f"relayed {turn}", count=20_000).content
        service = Scripted(deployment.document, lambda _: plan)
        with running(service):
            answer = subject.take_part(service, script, bytes=content.hex())
        source = ReplayedSourceForTests(content)
        issued, size = draw(plan, deployment, source)
        document = json.loads(json.dumps(issued.document(deployment.built)))
        wanted = expected(deployment, document, 0, script, source)
        drawn.add(issued.index)
        if answer.get("status") != "accepted" or len(service.bodies) != 1:
            wrong.append(f"{str(answer)[:150]}, {len(service.bodies)} reports")
            continue
        place = f"assignment {issued.index}"
        if not same(answer["actions"], wanted.actions):
            wrong.append(f"{place}: advised {answer['actions']}, not {wanted.actions}")
        if answer["used"] != source.used:
            wrong.append(f"{place}: {answer['used']} random bytes, not {source.used}")
        wrong += _opened(service.bodies[0], document, size, wanted.values, known, private)
    wrong += [] if len(drawn) == len(plan["assignments"]) else ["not all assignments were drawn"]
    return checked("sealed reports", wrong, f"{_EPISODES} are opened, and are the same bytes")


def _opened(
    body: bytes, document: dict[str, Any], size: int, values: list[int], plan: str, private: Opener
) -> Iterator[str]:
    sent = json.loads(body)
    if set(sent) != {"deployment", "version", "sealed"} or sent["version"] != document["version"]:
        yield f"sent {sorted(sent)}"
        return
    sealed = b64decode(sent["sealed"])
    inside = private.open(sealed, document["version"], plan)
    if len(sealed) != size + OVERHEAD or inside is None:
        yield f"{len(sealed)} sealed bytes that do not open, or not {size + OVERHEAD}"
        return
    report = json.loads(inside)
    if report["values"] != values or report["assignment"] != document["assignment"]:
        yield f"sealed {str(report)[:150]}, not {values}"


def _hostile(subject: Subject, deployment: Deployment, plan: dict[str, Any]) -> Check:
    """Refuse plans before anything is drawn, whichever part does not fit."""
    parts = plan["assignments"]
    last = parts[-1]
    longer = {"policy": [[deployment.shape.actions] * deployment.shape.states]}
    changes: list[dict[str, Any]] = [
        {"deployment": "0" * 64},
        {"version": -1},
        {"report_bytes": plan["report_bytes"] - 1},
        {"report_bytes": 2**20 + 1},
        {"report_bytes": None},
        {"assignments": []},
        {"assignments": parts[:-1]},
        {"assignments": [*parts[:-1], last | {"share": -last["share"]}]},
        {"assignments": [*parts[:-1], last | {"share": str(last["share"])}]},
        {"assignments": [*parts[:-1], last | longer]},
        {"assignments": [*parts[:-1], last | {"law": 0}]},
        {"assignments": [*parts[:-1], last | {"questions": last["questions"] * 2 + [{}]}]},
    ]
    for asked in last["questions"][:1]:
        constants = deployment.document["randomizer"][asked["kind"]]
        own = asked | constants | {"where": [*range(deployment.shape.states)]}
        changes.append({"assignments": [*parts[:-1], last | {"questions": [own]}]})
    wrong: list[str] = []
    for change in changes:
        service = _serving(deployment.document, plan | change)
        wrong += refused(subject, service, path_of(deployment), str(change)[:60], 0)
    return checked("plans", wrong, f"{len(changes)} plans are refused before anything is drawn")


def _serving(document: dict[str, Any], plan: dict[str, Any]) -> Scripted:
    return Scripted(document, lambda _: plan)


def _known(subject: Subject) -> Iterator[Check]:
    """Hand out the vectors' own hostile plans, of users who see vectors."""
    given = subject.vectors["hostile"]
    if not subject.takes(given["document"]):
        return
    script = path_of(Deployment.from_document(given["document"]))
    wrong: list[str] = []
    tried = 0
    for case in given["refused"]:
        if case["kind"] != "plan":
            continue
        plan = json.loads(json.dumps(given["plan"]))
        place = plan if case["part"] is None else plan["assignments"][case["part"]]
        for key, value in case["change"].items():
            place.pop(key, None) if value is None else place.update({key: value})
        service = _serving(given["document"], plan)
        wrong += refused(subject, service, script, str(case["change"])[:60], 0)
        tried += 1
    yield checked("plans of the vectors", wrong, f"{tried} plans are refused")
