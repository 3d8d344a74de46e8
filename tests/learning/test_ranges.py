"""Ranges of thresholds: they follow the returns, cut off little, and find their way back."""

import numpy as np
import pytest
from scipy.stats import norm

from ldprl.isotonic import falling
from ldprl.learning.ranges import Band, bands, mean_return
from ldprl.shape import FloatArray

EDGES = np.linspace(0, 10, 513)
MIDDLES = (EDGES[1:] + EDGES[:-1]) / 2


KEEP = 0.75
"""Of a bit; a fair coin is then decoded with a standard deviation of 1."""


def _bands(thresholds: FloatArray, users: int) -> list[Band]:
    return bands(thresholds, 10, users, KEEP, 2 * KEEP - 1)


def _seen(survival: np.ndarray, users: float, low: float = 0.0, high: float = 10.0) -> np.ndarray:
    density = np.where((low < MIDDLES) & (high > MIDDLES), users / (high - low), 0.0)
    return np.stack([density, density * survival])


def test_before_anybody_the_whole_range_is_asked_about() -> None:
    first = _bands(np.zeros((2, 512)), 0)
    assert [one.low for one in first] == [0, 2.5, 5, 7.5]
    assert not any(one.watch for one in first)


@pytest.mark.parametrize(("users", "reach"), [(10**4, 1.5), (10**9, 2.5)])
def test_normal_returns_get_a_range_in_standard_deviations(users: int, reach: float) -> None:
    survival = norm.sf(MIDDLES, 6, 0.8)
    asked = [one for one in _bands(_seen(survival, 1e12), users) if not one.watch]
    assert asked[0].low == pytest.approx(6 - reach * 0.8, abs=0.15)
    assert asked[-1].high == pytest.approx(6 + reach * 0.8, abs=0.15)


def test_rare_large_returns_are_not_cut_off() -> None:
    # One in twenty returns 3, the others 0.
    survival = np.where(MIDDLES < 3, 0.05, 0.0)
    asked = _bands(_seen(survival, 1e12), 10**7)
    assert max(one.high for one in asked if not one.watch) > 2.8


def test_a_range_that_is_too_narrow_grows() -> None:
    # Asked below 4.5 alone, where returns are above all the same; the watch next to it sees more.
    survival = norm.sf(MIDDLES, 6, 0.8)
    narrow = _seen(survival, 1e6, 3.5, 4.5)
    asked = _bands(narrow, 10**6)
    assert max(one.high for one in asked) > 4.5


def test_more_users_where_bits_are_less_certain() -> None:
    survival = norm.sf(MIDDLES, 6, 0.8)
    asked = _bands(_seen(survival, 1e12), 10**7)
    assert sum(one.share for one in asked) == pytest.approx(1)
    assert {one.share for one in asked if one.watch} == {0.03}
    inner = [one for one in asked if not one.watch]
    reported = [1 - KEEP + (2 * KEEP - 1) * one.above for one in inner]
    spread = np.sqrt([one * (1 - one) for one in reported])
    given = np.array([one.share for one in inner])
    np.testing.assert_allclose(given / given.sum(), spread / spread.sum())


def test_noisy_shares_are_made_to_fall() -> None:
    """The mean is the area under what :func:`~ldprl.isotonic.falling` makes of them."""
    rng = np.random.default_rng(0)
    seen = _seen(norm.sf(MIDDLES, 6, 0.8), 1000.0, 2.0, 9.0)
    inside = seen[0] > 0
    seen[0, inside] *= rng.uniform(0.5, 2.0, inside.sum())
    seen[1] += rng.normal(scale=30, size=512) * inside
    raw = seen[1, inside] / seen[0, inside]
    survival = np.clip(falling(raw, seen[0, inside]), 0, 1)
    found, _ = mean_return(seen, 10, 1.0)
    assert found == pytest.approx(10 / 512 * ((MIDDLES < 2).sum() + survival.sum()), rel=1e-12)
    assert found != pytest.approx(
        10 / 512 * ((MIDDLES < 2).sum() + np.clip(raw, 0, 1).sum()), rel=1e-3
    )
