"""The JavaScript client's reports withstand the attacker that Python's withstand."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, cast

import numpy as np
import pytest

from ldprl import Laplace, RandomizedResponse, Shape, Trajectory
from ldprl.assignment import Assignment
from ldprl.audit import Audit, audit
from ldprl.mechanisms.mechanism import Guarantee, Mechanism
from ldprl.mechanisms.return_bits import ReturnBits
from ldprl.mechanisms.sampling import RandomSource
from ldprl.mechanisms.subset_selection import SubsetSelection
from ldprl.protocol.deployment import Deployment
from ldprl.protocol.messages import Issued
from ldprl.shape import Array
from tests.browser.conftest import CLIENT

SHAPE = Shape(2, 2, 2)
EPSILON = 2.0
SAMPLES: dict[type[Mechanism], int] = {
    SubsetSelection: 50_000,
    ReturnBits: 8_000,
    RandomizedResponse: 20_000,
    Laplace: 10_000,
}
"""Reports of each of two users that are measured, after as many for the plan."""


class Drawer:
    """A node process that draws reports for one deployment, as many as it is asked for."""

    def __init__(self, node: str, deployment: Deployment) -> None:
        self.deployment = deployment
        command = [node, "testing/draw.js", json.dumps(deployment.document)]
        self._process = subprocess.Popen(
            command, cwd=CLIENT, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )

    def draw(self, trajectory: Trajectory, assignment: Assignment, count: int) -> Array:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        issued = Issued(self.deployment.digest, 0, 0, assignment)
        request = {
            "assignment": issued.document(self.deployment.built),
            "trajectory": vars(trajectory),
            "count": count,
        }
        self._process.stdin.write(json.dumps(request) + "\n")
        self._process.stdin.flush()
        values = self.deployment.built.codec(assignment)
        reports = json.loads(self._process.stdout.readline())
        assert len(reports) == count
        return np.stack([values.read(report) for report in reports])

    def stop(self) -> None:
        self._process.communicate(timeout=60)


@contextmanager
def drawn_by_node(node: str, kind: type[Mechanism], epsilon: float) -> Iterator[Mechanism]:
    """Yield a mechanism whose reports are made by the client for ``epsilon``."""
    drawer = Drawer(node, Deployment("audit", SHAPE, str(epsilon), kind.name))

    class InJavaScript(kind):  # type: ignore[valid-type, misc]
        def privatize_many(
            self, trajectory: Trajectory, assignment: Assignment, count: int, source: RandomSource
        ) -> Array | Sequence[Array]:
            return drawer.draw(trajectory, assignment, count)

    try:
        yield cast(Any, InJavaScript)(SHAPE, epsilon)
    finally:
        drawer.stop()


def audited(node: str, kind: type[Mechanism], epsilon: float, samples: int) -> Audit:
    with drawn_by_node(node, kind, epsilon) as mechanism:
        return audit(mechanism, Guarantee(EPSILON, 0.0), samples)


def kinds(*fast: type[Mechanism]) -> list[Any]:
    """Return all mechanisms of the client, those not in ``fast`` for the slow tests."""
    return [
        pytest.param(kind, id=str(kind.name), marks=[] if kind in fast else [pytest.mark.slow])
        for kind in SAMPLES
    ]


@pytest.mark.parametrize("kind", kinds(SubsetSelection, ReturnBits))
def test_its_reports_hold_their_claim(node: str, kind: type[Mechanism]) -> None:
    """Type-I error 2e-6; the bits that are drawn from are fixed."""
    result = audited(node, kind, EPSILON, SAMPLES[kind])
    assert result.verdict == "holds"
    assert result.empirical_epsilon_lower > EPSILON / 4


@pytest.mark.parametrize("kind", kinds(SubsetSelection, Laplace))
def test_half_the_noise_is_convicted(node: str, kind: type[Mechanism]) -> None:
    """The mutant: a client that draws for twice the ε that is claimed."""
    result = audited(node, kind, 2 * EPSILON, SAMPLES[kind] // 2)
    assert result.empirical_epsilon_lower > EPSILON
