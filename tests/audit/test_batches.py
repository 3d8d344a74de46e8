"""The audit of crowds: holds for a crowd that is there, convicts one that is half as large."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from ldprl.audit import batches, reports
from ldprl.audit.batches import Scene, audit_crowd, batch_score
from ldprl.audit.neighbours import worst_pairs
from ldprl.errors import InputError
from ldprl.mechanisms.laplace import Laplace
from ldprl.mechanisms.mechanism import Mechanism
from ldprl.mechanisms.return_bits import ReturnBits
from ldprl.mechanisms.sampling import InsecureSource
from ldprl.mechanisms.subset_selection import SubsetSelection
from ldprl.mechanisms.threshold_bits import ThresholdBits
from ldprl.policies.linear import Linear
from ldprl.shape import Shape

SHAPE = Shape(2, 2, 2)


LINEAR = Linear(features=("x",), actions=("a", "b"), horizon=2, returns=(0, 1))


@pytest.mark.parametrize(
    ("mechanism", "size"),
    [
        (SubsetSelection(SHAPE, 3.0), 40),
        (SubsetSelection(SHAPE, 4.0), 100),
        (ReturnBits(SHAPE, 4.0), 100),
        (ThresholdBits(LINEAR, 4.0), 100),
    ],
    ids=lambda one: getattr(one, "name", None),
)
def test_half_a_crowd_is_convicted_and_a_whole_one_is_not(mechanism: Mechanism, size: int) -> None:
    """Type-I error ≤ 10⁻⁶ an audit by Clopper–Pearson; the half crowd is the mutant."""
    honest = audit_crowd(mechanism, size, batches=6_000)
    assert honest.verdict == "holds"
    half = audit_crowd(mechanism, size, present=size // 2, batches=6_000)
    assert half.verdict == "violated"


def test_a_batch_is_measured_with_as_many_reports_as_the_crowd_has(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Of the victims as many are drawn as there are batches, of others crowd − 1 times that."""
    drawn: list[int] = []
    draw = reports.draw_reports

    def counted(*arguments: Any) -> Any:
        drawn.append(arguments[3])
        return draw(*arguments)

    monkeypatch.setattr(batches, "draw_reports", counted)
    scouts = batches._SCOUTS
    found = audit_crowd(SubsetSelection(SHAPE, 3.0), 12, batches=50)
    assert (found.crowd, found.batches) == (12, 50)
    own = {scouts, 50}
    assert {count for count in drawn if count in own} == own
    assert {count for count in drawn if count not in own} == {11 * count for count in own}
    assert found == audit_crowd(SubsetSelection(SHAPE, 3.0), 12, present=12, batches=50)


@pytest.mark.parametrize("mechanism", [SubsetSelection(SHAPE, 3.0), ReturnBits(SHAPE, 3.0)])
def test_the_order_of_reports_says_nothing(mechanism: SubsetSelection | ReturnBits) -> None:
    """Not even by a rounding error, which a threshold at a tie would make visible."""
    pair = worst_pairs(mechanism)[-1]
    scene, source = Scene(pair, pair.first), InsecureSource(1)
    rng = np.random.default_rng(0)
    for _ in range(20):
        reports = np.asarray(mechanism.privatize_many(pair.first, pair.assignment, 30, source))
        other = reports[rng.permutation(30)]
        one, two = (batch_score(mechanism, scene, each, 1)[0] for each in (reports, other))
        assert one == two


def test_a_mechanism_without_a_likelihood_is_refused() -> None:
    with pytest.raises(InputError, match="crowd"):
        audit_crowd(SubsetSelection(SHAPE, 3.0), 0)
    with pytest.raises(InputError, match="log-likelihood"):
        audit_crowd(NoLikelihood(SHAPE, 3.0), 10, batches=10)


class NoLikelihood(Laplace):
    def log_likelihood(self, *_: object) -> None:
        return None
