"""What attacks see and how they are measured: on fresh reports, and never in their own favour."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from ldprl.audit import audit
from ldprl.audit.batches import judge
from ldprl.audit.bound import FAILURE, LeastDelta, LeastEpsilon, rate_at_least, rate_at_most
from ldprl.audit.counters import Composition
from ldprl.audit.neighbours import worst_pairs
from ldprl.audit.region import ScoreAttack
from ldprl.audit.reports import Reports, draw_reports
from ldprl.audit.scores import classifier
from ldprl.mechanisms.laplace import Laplace
from ldprl.mechanisms.return_bits import ReturnBits
from ldprl.mechanisms.sampling import InsecureSource
from ldprl.shape import Array, Shape

SHAPE = Shape(2, 2, 2)


class Silent(Laplace):
    """Changes what a client sends, and inherits how many reports are drawn at once."""

    def privatize(self, *_: Any) -> Array:
        return np.zeros(self.layout.length, dtype=np.int64)


def test_reports_are_those_of_the_clients_own_code() -> None:
    mechanism = Silent(SHAPE, 1.0)
    pair = worst_pairs(mechanism)[0]
    drawn = draw_reports(mechanism, pair.first, pair.assignment, 5, InsecureSource(0))
    assert not drawn.values.any()


def test_as_many_fresh_reports_are_measured_as_were_planned_with() -> None:
    calls: list[tuple[int, int]] = []
    mechanism = ReturnBits(SHAPE, 1.0)
    audit(mechanism, mechanism.guarantee, 500, progress=lambda *call: calls.append(call))
    assert calls[-1][0] == calls[-1][1]


def test_a_crowd_is_judged_by_the_batches_that_were_measured() -> None:
    """The plan's batches differ entirely, and the measured ones not at all."""
    low, high = np.zeros(2000), np.ones(2000)
    mechanism = ReturnBits(SHAPE, 1.0)
    assert judge(mechanism, 100, (high, low), (high, low)).verdict == "violated"
    assert judge(mechanism, 100, (high, low), (low, low)).empirical_delta_lower == 0.0


def test_a_classifier_sees_how_long_reports_are() -> None:
    short, long = (Reports(np.zeros((50, 2)), np.full(50, length)) for length in (1, 2))
    score = classifier(long, short)
    assert score(long).min() > score(short).max()


def test_a_region_may_speak_for_the_second_user() -> None:
    first, second = np.zeros(10_000), np.repeat([0.0, -1.0], 5_000)
    promise, region = ScoreAttack(lambda reports: reports.values[:, 0]).plan(
        first, second, LeastEpsilon(0.0)
    )
    assert region.swapped
    assert region.certify(first, second, LeastEpsilon(0.0)) == promise > 5


@pytest.mark.parametrize("epsilon", [0.0, 0.3, 1.0])
def test_composed_counters_certify_no_more_than_their_cells_do(epsilon: float) -> None:
    """Against all cells of three counters, one by one."""
    rng, trials, sizes = np.random.default_rng(4), 5_000, (3, 3, 3)
    first = np.stack([rng.choice(3, trials, p=[0.6, 0.3, 0.1]) for _ in sizes], axis=1)
    second = np.stack([rng.choice(3, trials, p=[0.1, 0.3, 0.6]) for _ in sizes], axis=1)
    least, most, failure = np.ones(1), np.ones(1), FAILURE / (2 * sum(sizes))
    for column in range(len(sizes)):
        hits = [np.bincount(side[:, column], minlength=3) for side in (first, second)]
        least = np.outer(least, rate_at_least(hits[0], trials, failure)).ravel()
        most = np.outer(most, rate_at_most(hits[1], trials, failure)).ravel()
    exact = float(np.maximum(least - np.exp(epsilon) * most, 0).sum())
    found = Composition(sizes, swapped=False).certify(first, second, LeastDelta(epsilon))
    assert exact - 1e-3 < found <= exact + 1e-12
