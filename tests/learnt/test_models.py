"""About how many more users it takes: a formula, and what it says where nothing can be said."""

from __future__ import annotations

import numpy as np
import pytest

from ldprl.learnt.models import Progress, users_until_settled


def seen(*sureness: float) -> Progress:
    """Return the progress of one step with equally many users in each state."""
    states = len(sureness)
    none = np.zeros(1)
    visited = np.full((1, states), 1 / states)
    return Progress(np.zeros((1, states), int), np.array([sureness]), visited, none, none)


def test_errors_shrink_with_the_root_of_the_users() -> None:
    """Φ⁻¹(0.95) = 1.645 and Φ⁻¹(0.84134) = 1: (1.645² − 1) = 1.7055 times as many users more."""
    assert users_until_settled(1000, seen(0.841345, 0.99)) == pytest.approx(1705, abs=2)


def test_the_tenth_that_matters_least_is_left_out() -> None:
    assert users_until_settled(1000, seen(*[0.99] * 9, 0.5)) == 0
    assert users_until_settled(1000, seen(*[0.99] * 8, 0.5, 0.5)) is None


def test_nothing_is_said_of_a_coin_toss_or_without_reports() -> None:
    assert users_until_settled(1000, seen(0.5, 0.99)) is None
    assert users_until_settled(0, seen(0.8, 0.8)) is None
