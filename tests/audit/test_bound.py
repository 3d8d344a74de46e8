"""What hits certify: Clopper–Pearson bounds at the failure that an audit states."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from ldprl.audit.bound import FAILURE, LeastDelta, rate_at_least, rate_at_most
from ldprl.audit.counters import Composition

TRIALS = 1000


@pytest.mark.parametrize("hits", [1, 30, 500, 999])
def test_each_side_fails_half_as_often_as_is_stated(hits: int) -> None:
    """As many hits, or more, have the chance 10⁻⁶/2 at the bound; as many, or fewer, likewise."""
    low, high = float(rate_at_least(hits, TRIALS)), float(rate_at_most(hits, TRIALS))
    assert stats.binom.sf(hits - 1, TRIALS, low) == pytest.approx(FAILURE / 2, rel=1e-6)
    assert stats.binom.cdf(hits, TRIALS, high) == pytest.approx(FAILURE / 2, rel=1e-6)


def test_nothing_is_known_where_nothing_was_seen() -> None:
    assert float(rate_at_least(0, TRIALS)) == 0.0
    assert float(rate_at_most(TRIALS, TRIALS)) == 1.0


@pytest.mark.parametrize("sizes", [(2,), (2, 3), (15, 15, 15)])
def test_the_cells_of_all_counters_share_the_failure(sizes: tuple[int, ...]) -> None:
    """Two users who are always in different cells, of the first counter alone."""
    first, second = np.zeros((2, TRIALS, len(sizes)), dtype=np.int64)
    second[:, 0] = 1
    found = Composition(sizes, swapped=False).certify(first, second, LeastDelta(0.0))
    # All hits or none: the rate is failure^{1/n} at the least, or 1 − failure^{1/n} at the most.
    least = (FAILURE / (2 * sum(sizes))) ** (1 / TRIALS)
    assert found == pytest.approx(least ** len(sizes) - (1 - least), abs=1e-5)
