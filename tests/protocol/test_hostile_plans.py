"""Plans and assignments with one fault each: refused, or nothing fails once they are not.

What fails behind the draw costs a user ε, and what fails for some reports says which ones they are.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from ldprl import InputError, Shape, Trajectory
from ldprl.assignment import Assignment, Plan
from ldprl.client.received import Received
from ldprl.mechanisms.questions.returns import UNIT
from ldprl.mechanisms.questions.threshold import CELLS, Threshold
from ldprl.mechanisms.sampling import InsecureSource
from ldprl.mechanisms.total import Total
from ldprl.policies.linear import Linear
from ldprl.policies.perturbed import Perturbed
from ldprl.policies.tables import TableDistribution
from ldprl.problem import Problem
from ldprl.protocol.deployment import Deployment
from ldprl.protocol.messages import Issued
from ldprl.protocol.mixing import Shuffled
from ldprl.protocol.plan import draw
from ldprl.protocol.sealing import new_private_key, opener

SHAPE = Shape(2, 2, 2)
VECTORS = Linear(features=("x", "y"), actions=("a", "b"), horizon=2, returns=(0, 2))
NUMBER = 7
FAULTS: tuple[Any, ...] = (None, True, 0, 1, -1, 1.5, math.nan, 10**400, "x", [], {}, [[]])
STATES = (
    Trajectory.empty(),
    Trajectory([0, 1], [0, 0], [1.0, 0.0]),
    Trajectory([1, 1], [1, 1], [1.0, 0.25]),
)


def deployed(mechanism: str, *, relay: bool) -> Deployment:
    problem: Problem = VECTORS if mechanism == "threshold-bits" else SHAPE
    key = opener(new_private_key()).key
    shuffled = Shuffled(100, "1", "0.000001", key) if relay else None
    return Deployment("hostile", problem, "1", mechanism, shuffle=shuffled)


def plan_of(deployment: Deployment) -> Plan:
    name = deployment.mechanism
    if name == "threshold-bits":
        spread = np.ones(VECTORS.size, dtype=np.float32)
        law = Perturbed(VECTORS, "1" * 32, VECTORS.start, spread)
        asked = Threshold(100, 40_000, tuple(range(UNIT, 0, -UNIT // CELLS)))
        return (Assignment(law, 1.0, (asked,)),)
    if name == "return-bits":
        tables = TableDistribution.of(SHAPE, np.full((1, 2, 2), 0.5), "2" * 32)
        return deployment.built.ask((Assignment(tables),))
    both = (Assignment(np.full((2, 2), action), 0.5) for action in (0, 1))
    return deployment.built.ask(tuple(both))


def document_of(deployment: Deployment) -> dict[str, Any]:
    """Return the whole plan, behind a relay, or else what a service hands out."""
    parts = [
        Issued(deployment.digest, 1, i, one, number).document(deployment.built)
        | {"share": one.share}
        for i, one in enumerate(plan_of(deployment))
        for number in [None if deployment.shuffle or not one.numbered else NUMBER]
    ]
    if deployment.shuffle is None:
        return parts[0]
    head = {"deployment": deployment.digest, "version": 1, "report_bytes": 1024}
    return head | {"assignments": parts}


def places(document: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield the way to every part of a document, to the first few of long lists."""
    keys = document if isinstance(document, dict) else range(min(len(document), 3))
    for key in keys:
        yield (*path, key)
        if isinstance(document[key], dict | list):
            yield from places(document[key], (*path, key))


def spoilt(document: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield copies in each of which one part is missing, repeated, or something else."""
    for *way, last in places(document):
        for fault in (*FAULTS, "missing", "repeated"):
            result: Any = copy.deepcopy(document)
            part = result
            for key in way:
                part = part[key]
            if fault == "missing":
                del part[last]
            elif fault == "repeated" and isinstance(part, list):
                part.append(copy.deepcopy(part[last]))
            else:
                part[last] = fault
            yield result


@pytest.mark.parametrize("relay", [False, True], ids=["direct", "relay"])
@pytest.mark.parametrize("name", ["threshold-bits", "subset-selection", "return-bits", "laplace"])
def test_what_is_taken_can_be_reported_under_whatever_happened(name: str, relay: bool) -> None:
    deployment = deployed(name, relay=relay)
    document, source, taken = document_of(deployment), InsecureSource(1), 0
    episodes = (Total(2.0), Total(None)) if name == "threshold-bits" else STATES
    for given in spoilt(document):
        try:
            if relay:
                received = Received(*draw(given, deployment, source), "0" * 64).checked(deployment)
            else:
                issued = Issued.from_document(given, deployment, NUMBER)
                received = Received(issued).checked(deployment)
        except InputError:
            continue
        taken += 1
        lengths = [len(received.report(deployment, "0" * 32, it, source)) for it in episodes]
        if relay:
            assert len(set(lengths)) == 1
    assert taken > 5
