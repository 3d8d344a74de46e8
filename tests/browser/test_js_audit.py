"""The JavaScript client's reports withstand the attacker that Python's withstand."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, cast

import numpy as np
import pytest

from ldprl import Laplace, RandomizedResponse, Shape
from ldprl.assignment import Assignment
from ldprl.audit import Audit, audit
from ldprl.conformance.chance import shipped
from ldprl.conformance.program import Program
from ldprl.mechanisms.mechanism import Guarantee, Mechanism
from ldprl.mechanisms.questions.returns import UNIT
from ldprl.mechanisms.questions.threshold import CELLS, Threshold
from ldprl.mechanisms.return_bits import ReturnBits
from ldprl.mechanisms.subset_selection import SubsetSelection
from ldprl.mechanisms.threshold_bits import ThresholdBits
from ldprl.mechanisms.total import Total
from ldprl.policies.linear import Linear
from ldprl.policies.perturbed import Perturbed
from ldprl.protocol.deployment import Deployment
from tests.browser.conftest import CLIENT

SHAPE = Shape(2, 2, 2)
VECTORS = Linear(features=["pulse"], actions=["rest", "run"], horizon=2, returns=(0, 1))
EPSILON = 2.0


class AttackedBits(ThresholdBits):
    """Threshold bits, and plans that a service may choose to tell two users apart.

    Policies that are far apart, the narrowest range of thresholds beside a user's return, and
    returns beyond all bounds.
    """

    def neighbours(self) -> list[tuple[str, Any, Any, Assignment]]:
        mean = np.array([2.0**40, -(2.0**40), 0, 1], dtype=np.float32)
        law = Perturbed(VECTORS, "f" * 32, mean, np.ones(4, dtype=np.float32))
        narrow = Threshold(UNIT // 2, UNIT // 2 + 1, (0,) * CELLS)
        users = [(0.50001, 0.49999), (1e308, -1e308), (0.7, None)]
        return super().neighbours() + [
            (
                f"hostile {number}",
                Total(one),
                Total(other),
                Assignment(law, 1.0, (narrow,)).drawn(number),
            )
            for number, (one, other) in zip((3, 2**53 - 1, 0), users, strict=True)
        ]


SAMPLES: dict[type[Mechanism], int] = {
    SubsetSelection: 50_000,
    ReturnBits: 8_000,
    RandomizedResponse: 20_000,
    Laplace: 10_000,
    AttackedBits: 8_000,
}
"""Reports of each of two users that are measured, after as many for the plan."""


@contextmanager
def drawn_by_node(node: str, kind: type[Mechanism], epsilon: float) -> Iterator[Mechanism]:
    """Yield a mechanism whose reports are made by the client for ``epsilon``."""
    problem = VECTORS if kind is AttackedBits else SHAPE
    deployment = Deployment("audit", problem, str(epsilon), kind.name)
    with Program(f"{node} {CLIENT / 'testing' / 'conform.js'}") as program:
        yield shipped(program, deployment, cast(Any, kind)(problem, epsilon))


def audited(node: str, kind: type[Mechanism], epsilon: float, samples: int) -> Audit:
    with drawn_by_node(node, kind, epsilon) as mechanism:
        return audit(mechanism, Guarantee(EPSILON, 0.0), samples)


def kinds(*fast: type[Mechanism]) -> list[Any]:
    """Return all mechanisms of the client, those not in ``fast`` for the slow tests."""
    return [
        pytest.param(kind, id=str(kind.name), marks=[] if kind in fast else [pytest.mark.slow])
        for kind in SAMPLES
    ]


@pytest.mark.parametrize("kind", kinds(SubsetSelection, ReturnBits, AttackedBits))
def test_its_reports_hold_their_claim(node: str, kind: type[Mechanism]) -> None:
    """Type-I error 2e-6; the bits that are drawn from are fixed."""
    result = audited(node, kind, EPSILON, SAMPLES[kind])
    assert result.verdict == "holds"
    assert result.empirical_epsilon_lower > EPSILON / 4


@pytest.mark.parametrize("kind", kinds(SubsetSelection, Laplace, AttackedBits))
def test_half_the_noise_is_convicted(node: str, kind: type[Mechanism]) -> None:
    """The mutant: a client that draws for twice the ε that is claimed."""
    result = audited(node, kind, 2 * EPSILON, SAMPLES[kind] // 2)
    assert result.empirical_epsilon_lower > EPSILON
