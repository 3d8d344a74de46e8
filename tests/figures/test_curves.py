"""Curves read from tables, and what they say of themselves."""

from __future__ import annotations

import numpy as np
import pytest

from ldprl.figures.curves import curves_of
from tests.figures import fake


def test_a_table_gives_its_curves_back() -> None:
    given_curves = [fake.curve(3.0), fake.curve(5.0, epsilon=20.0), fake.curve(7.0, learner="psrl")]
    found = curves_of(fake.table(given_curves))
    assert len(found) == 3
    for one, other in zip(given_curves, found, strict=True):
        assert (one.learner, one.epsilon) == (other.learner, other.epsilon)
        np.testing.assert_array_equal(one.regret, other.regret)
        np.testing.assert_array_equal(one.episodes, other.episodes)


@pytest.mark.parametrize("growth", [0.0, 0.5, 1.0])
def test_the_exponent_is_that_of_the_growth(growth: float) -> None:
    assert fake.curve(1e5, power=growth).exponent == pytest.approx(growth, abs=0.02)


@pytest.mark.parametrize(("exact", "as_claimed"), [(0.1, True), (0.0, True), (0.100001, False)])
def test_privacy_is_as_claimed_up_to_the_claimed_delta(exact: float, as_claimed: bool) -> None:
    assert fake.curve(delta=0.1, exact=exact).as_claimed == as_claimed
