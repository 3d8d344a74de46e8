"""What a client must refuse, before it draws anything and without a report."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any

import numpy as np

from ldprl.assignment import Assignment
from ldprl.conformance.program import ProgramError
from ldprl.conformance.scripted import Scripted, running
from ldprl.conformance.subject import (
    NUMBER_BYTES,
    Check,
    Script,
    Subject,
    bytes_for,
    checked,
    path_of,
)
from ldprl.mechanisms.by_name import for_tables
from ldprl.policies.tables import TableDistribution
from ldprl.protocol.deployment import Deployment
from ldprl.protocol.messages import Issued
from ldprl.shape import Shape

_NUMBER = 5
LOUDER = 2**44
"""Of 2⁶⁴: what a threshold is moved by, a millionth of it and more."""
Change = tuple[str, Any]
Case = tuple[str, dict[str, Any], Any]
"""What is wrong, the deployment, and the assignment."""


def refusals(subject: Subject) -> Iterator[Check]:
    """Yield the checks of deployments and assignments that no client may take."""
    plain = [case for case in subject.deployments() if "shuffle" not in case["document"]]
    for mechanism in dict.fromkeys(case["document"]["mechanism"] for case in plain):
        case = next(case for case in plain if case["document"]["mechanism"] == mechanism)
        good, given = case["document"], case["reports"][0]["assignment"]
        deployments = [(what, changed, given) for what, changed in _documents(good)]
        yield _all_refused(subject, f"deployments of {mechanism}", good, deployments)
        assignments = [(what, good, changed) for what, changed in _assignments(good, given)]
        yield _all_refused(subject, f"assignments of {mechanism}", good, assignments)
    yield _digests(subject, plain[0])
    yield from _known(subject)
    yield from _unsupported(subject)


def _all_refused(
    subject: Subject, name: str, good: dict[str, Any], cases: list[Case], digest: str | None = None
) -> Check:
    """Return whether all deployments with these assignments are refused by users of ``good``."""
    wrong = [one for case in cases for one in _taken(subject, good, *case, digest)]
    return checked(name, wrong, f"{len(cases)} of them are refused")


def _taken(
    subject: Subject,
    good: dict[str, Any],
    what: str,
    document: dict[str, Any],
    assignment: Any,
    digest: str | None,
) -> Iterator[str]:
    """Yield what a program does with what it must refuse."""
    service = Scripted(document, lambda _: assignment)
    if isinstance(assignment, dict) and document is not good:
        assignment = assignment | {"deployment": service.digest}
    more = {} if digest is None else {"digest": digest}
    script = path_of(Deployment.from_document(good))
    yield from refused(subject, service, script, what, NUMBER_BYTES, **more)


def refused(
    subject: Subject, service: Scripted, script: Script, what: str, most: int, **more: Any
) -> Iterator[str]:
    """Yield whether a program took part, sent anything, or drew more than ``most`` bytes."""
    given = {"bytes": bytes_for(_NUMBER, what)} | more
    try:
        with running(service):
            answer = subject.take_part(service, script, **given)
    except ProgramError as error:
        yield f"{what}: {error}"
        return
    if "error" not in answer:
        yield f"{what}: taken, {str(answer)[:100]}"
    elif service.bodies:
        yield f"{what}: refused after a report was sent"
    elif answer.get("used", 0) > most:
        yield f"{what}: refused after {answer['used']} random bytes were drawn"


def _documents(good: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    """Return deployments with digests of their own that a client must not take."""
    for form in (1, 3, "2", None):
        yield f"format {form!r}", good | {"format": form}
    yield "an unknown mechanism", good | {"mechanism": "unheard-of"}
    yield (
        "a smaller ε with the same constants",
        good | {"epsilon": f"{float(good['epsilon']) / 2:g}"},
    )
    yield "no ε", good | {"epsilon": "0"}
    yield "ε that is no decimal", good | {"epsilon": "2e"}
    for name, changed in _louder(good["randomizer"]):
        yield f"{name} that reveals more than ε", good | {"randomizer": changed}
    yield "no constants", good | {"randomizer": {}}


def _louder(randomizer: dict[str, Any]) -> Iterator[Change]:
    for name, value in randomizer.items():
        if isinstance(value, dict):
            threshold = str(min(int(value["threshold"]) + LOUDER, 2**64 - 1))
            yield name, randomizer | {name: value | {"threshold": threshold}}
            yield (
                f"{name} with fewer answers",
                randomizer | {name: value | {"items": value["items"] - 1}},
            )
        elif name == "threshold":
            yield name, randomizer | {name: str(int(value) - LOUDER)}
        elif name == "numerator":
            yield name, randomizer | {name: str(int(value) * 9 // 10)}


def _assignments(document: dict[str, Any], good: dict[str, Any]) -> Iterator[Change]:
    """Return assignments that do not fit their deployment, or their user's number."""
    yield "no object", [good]
    yield "another deployment", good | {"deployment": "0" * 64}
    for version in (-1, "7", 7.5, None):
        yield f"version {version!r}", good | {"version": version}
    for index in (-1, "0", None):
        yield f"assignment {index!r}", good | {"assignment": index}
    questions = good["questions"]
    yield "one more question", good | {"questions": [*questions, {"kind": "reward", "step": 0}]}
    yield "no list of questions", good | {"questions": None}
    if questions:
        first, rest = questions[0], questions[1:]
        yield "no question", good | {"questions": []}
        for change in ({"kind": "unheard-of"}, {"step": -1}, {"step": 10**6}, {"step": 0.5}):
            if first["kind"] != "threshold" or "step" not in change:
                yield f"a question of {change}", good | {"questions": [first | change, *rest]}
    deployment = Deployment.from_document(document)
    if isinstance(deployment.problem, Shape):
        yield from _tables(deployment, good)
    else:
        yield from _parameters(good)


def _tables(deployment: Deployment, good: dict[str, Any]) -> Iterator[Change]:
    shape = deployment.shape
    rows = good["policy"]
    for action in (shape.actions, -1, 0.5, True, "0", None):
        table = copy.deepcopy(rows)
        table[-1][-1] = action
        yield f"action {action!r}", good | {"policy": table}
    yield "a row too many", good | {"policy": [*rows, rows[0]]}
    yield "a state too few", good | {"policy": [row[:-1] for row in rows]}
    yield "no policy", {key: value for key, value in good.items() if key != "policy"}
    yield "the number of somebody else", good | {"number": _NUMBER + 1}
    yield "a number of true", good | {"number": True}
    drawn = _under_a_law(deployment) | {"number": _NUMBER}
    given = drawn["law"]
    uneven = copy.deepcopy(given["weights"])
    uneven[0][0][0] -= 1
    hostile_laws = {
        "weights that sum to less": {"weights": uneven},
        "weights of too many steps": {"weights": given["weights"] * (shape.horizon + 1)},
        "a seed of 31 digits": {"seed": "0" * 31},
        "another key": {"count": 1},
    }
    for what, change in hostile_laws.items():
        yield f"a law with {what}", drawn | {"law": given | change}


def _under_a_law(deployment: Deployment) -> dict[str, Any]:
    """Return an assignment whose users all take action 0, by a law."""
    shape = deployment.shape
    chances = np.zeros((1, shape.states, shape.actions))
    chances[..., 0] = 1
    law = TableDistribution.of(shape, chances, "0" * 32)
    one = deployment.built.ask((Assignment(law),))[0]
    return Issued(deployment.digest, 1, 0, one).document(deployment.built)


def _parameters(good: dict[str, Any]) -> Iterator[Change]:
    law, question = good["law"], good["questions"][0]
    yield "the number of somebody else", good | {"number": _NUMBER + 1}
    yield "a law without a spread", good | {"law": {key: law[key] for key in ("seed", "mean")}}
    yield "a mean that is too short", good | {"law": law | {"mean": law["mean"][:-8]}}
    yield "a seed of 31 digits", good | {"law": law | {"seed": "0" * 31}}
    for change in (
        {"low": 2**16, "high": 2**16},
        {"low": -1},
        {"high": 2**16 + 1},
        {"baseline": question["baseline"][1:]},
        {"own": [1, False]},
    ):
        yield f"a threshold with {str(change)[:40]}", good | {"questions": [question | change]}


def _digests(subject: Subject, case: dict[str, Any]) -> Check:
    """Serve another deployment than the one that the program was told to trust."""
    good, given = case["document"], case["reports"][0]["assignment"]
    changes = ({"name": good["name"] + " "}, {"failure_probability": "0.2"}, {"more": None})
    cases = [(f"{change}", good | change, given) for change in changes]
    return _all_refused(subject, "digests", good, cases, case["digest"])


def _known(subject: Subject) -> Iterator[Check]:
    """Hand out the vectors' own refusals: actions that are stated to be inadmissible."""
    given = subject.vectors["refusals"]
    good = given["document"]
    if subject.takes(good):
        cases = [
            (f"{case['field']} = {case['value']}", good, case["assignment"])
            for case in given["assignments"]
            if case["field"] is not None
        ]
        yield _all_refused(subject, "inadmissible actions", good, cases)


def _unsupported(subject: Subject) -> Iterator[Check]:
    """Serve what a program does not support: it must not do half of it."""
    wrong, tried = [], 0
    for case in [*subject.vectors["deployments"], subject.vectors["refusals"]]:
        good = case["document"]
        if not subject.takes(good):
            given = case.get("reports", case.get("assignments"))[0]["assignment"]
            wrong += [*_taken(subject, good, f"deployment {good['name']!r}", good, given, None)]
            tried += 1
    for mechanism in {*for_tables()} & subject.supports if "laws" not in subject.supports else ():
        deployment = Deployment("laws", Shape(2, 2, 2), "2", mechanism)
        good, given = deployment.document, _under_a_law(deployment) | {"number": _NUMBER}
        wrong += [*_taken(subject, good, f"a law with {mechanism}", good, given, None)]
        tried += 1
    if tried:
        yield checked("what is not supported", wrong, f"{tried} deployments are refused")
