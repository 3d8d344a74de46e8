"""Ranges of thresholds: they follow the returns, cut off little, and find their way back."""

import numpy as np
import pytest
from scipy.stats import norm

from ldprl.learning.ranges import bands, shares

EDGES = np.linspace(0, 10, 513)
MIDDLES = (EDGES[1:] + EDGES[:-1]) / 2


def _seen(survival: np.ndarray, users: float, low: float = 0.0, high: float = 10.0) -> np.ndarray:
    density = np.where((low < MIDDLES) & (high > MIDDLES), users / (high - low), 0.0)
    return np.stack([density, density * survival])


def test_before_anybody_the_whole_range_is_asked_about() -> None:
    first = bands(np.zeros((2, 512)), 10, 0, 0.7)
    assert [one.low for one in first] == [0, 2.5, 5, 7.5]
    assert not any(one.watch for one in first)


@pytest.mark.parametrize(("users", "reach"), [(10**4, 1.5), (10**9, 2.5)])
def test_normal_returns_get_a_range_in_standard_deviations(users: int, reach: float) -> None:
    survival = norm.sf(MIDDLES, 6, 0.8)
    asked = [one for one in bands(_seen(survival, 1e12), 10, users, 0.7) if not one.watch]
    assert asked[0].low == pytest.approx(6 - reach * 0.8, abs=0.15)
    assert asked[-1].high == pytest.approx(6 + reach * 0.8, abs=0.15)


def test_rare_large_returns_are_not_cut_off() -> None:
    # One in twenty returns 3, the others 0.
    survival = np.where(MIDDLES < 3, 0.05, 0.0)
    asked = bands(_seen(survival, 1e12), 10, 10**7, 0.7)
    assert max(one.high for one in asked if not one.watch) > 2.8


def test_a_range_that_is_too_narrow_grows() -> None:
    # Asked below 4.5 alone, where returns are above all the same; the watch next to it sees more.
    survival = norm.sf(MIDDLES, 6, 0.8)
    narrow = _seen(survival, 1e6, 3.5, 4.5)
    asked = bands(narrow, 10, 10**6, 0.7)
    assert max(one.high for one in asked) > 4.5


def test_more_users_where_bits_are_less_certain() -> None:
    survival = norm.sf(MIDDLES, 6, 0.8)
    asked = bands(_seen(survival, 1e12), 10, 10**7, 0.7)
    spread = np.array([0.5 if not one.watch else 0.1 for one in asked])
    spread[1] = 1.0
    given = shares(asked, spread)
    assert given.sum() == pytest.approx(1)
    assert given[1] == pytest.approx(2 * given[0])
    assert {float(one) for one, band in zip(given, asked, strict=True) if band.watch} == {0.03}
