"""The audit of crowds: holds for a crowd that is there, convicts one that is half as large."""

from __future__ import annotations

import numpy as np
import pytest

from ldprl.accounting.audit.crowd import audit_crowd, batch_score
from ldprl.accounting.audit.neighbours import worst_pairs
from ldprl.errors import InputError
from ldprl.mechanisms.laplace import Laplace
from ldprl.mechanisms.sampling import SeededSourceForTests
from ldprl.mechanisms.subset_selection import SubsetSelection
from ldprl.mechanisms.trajectory import Trajectory
from ldprl.shape import Shape

SHAPE = Shape(2, 2, 2)


@pytest.mark.parametrize(("epsilon", "crowd"), [(3.0, 40), (4.0, 100)])
def test_half_a_crowd_is_convicted_and_a_whole_one_is_not(epsilon: float, crowd: int) -> None:
    """Type-I error ≤ 10⁻⁶ an audit by Clopper–Pearson; the half crowd is the mutant."""
    mechanism = SubsetSelection(SHAPE, epsilon)
    honest = audit_crowd(mechanism, crowd, batches=6_000)
    assert honest.verdict == "holds"
    half = audit_crowd(mechanism, crowd, present=crowd // 2, batches=6_000)
    assert half.verdict == "violated"


def test_the_order_of_reports_says_nothing() -> None:
    mechanism = SubsetSelection(SHAPE, 3.0)
    pair = worst_pairs(mechanism)[0]
    source = SeededSourceForTests(1)
    rows = mechanism.privatize_many(Trajectory.empty(), pair.assignment, 30, source)
    reports = np.asarray(rows)
    shuffled = reports[np.random.default_rng(0).permutation(30)]
    scores = [float(batch_score(mechanism, pair, each, 1)[0]) for each in (reports, shuffled)]
    assert scores[0] == pytest.approx(scores[1], abs=1e-12)


def test_a_mechanism_without_a_likelihood_is_refused() -> None:
    with pytest.raises(InputError, match="crowd"):
        audit_crowd(SubsetSelection(SHAPE, 3.0), 0)
    with pytest.raises(InputError, match="log-likelihood"):
        audit_crowd(NoLikelihood(SHAPE, 3.0), 10, batches=10)


class NoLikelihood(Laplace):
    def log_likelihood(self, *_: object) -> None:
        return None
