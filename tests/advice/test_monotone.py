"""Fitted losses fall with ε and with users, and are the nearest that do."""

from __future__ import annotations

import math

import numpy as np
import pytest

from ldprl.advice.forecast import Forecast
from ldprl.advice.monotone import Fit
from ldprl.catalogue import Pair

PAIR = Pair("ldp-evi", "subset-selection")
POINTS = np.array([1, 10, 100, 1000])


def forecast(epsilon: float, *rows: list[float]) -> Forecast:
    losses = np.array(rows)
    return Forecast(PAIR, epsilon, POINTS, losses, losses, losses[:, -1])


def test_a_fit_falls_in_both_directions() -> None:
    rng = np.random.default_rng(2)
    for _ in range(50):
        runs = rng.integers(1, 6, size=5)
        fit = Fit(
            [forecast(2.0**i, *rng.uniform(size=(n, 4)).tolist()) for i, n in enumerate(runs)]
        )
        assert (np.diff(fit.losses, axis=0) <= 1e-12).all()
        assert (np.diff(fit.losses, axis=1) <= 1e-12).all()


def test_few_runs_are_compared_with_the_same_runs() -> None:
    """The first world is the harder one: half its loss at ε = 2 means half the loss of both."""
    both = [forecast(1.0, [1.0, 1.0, 0.8, 0.6], [1.0, 1.0, 0.2, 0.0])]
    fit = Fit([*both, forecast(2.0, [1.0, 1.0, 0.4, 0.3])])
    assert fit.losses[:, 2].tolist() == pytest.approx([0.5, 0.25])
    assert fit.losses[:, 3].tolist() == pytest.approx([0.3, 0.15])


def at_last(*losses: float) -> Fit:
    return Fit([forecast(2.0**i, [1.0, 1.0, 1.0, loss]) for i, loss in enumerate(losses)])


@pytest.mark.parametrize(
    ("losses", "target", "expected"),
    [
        ((0.4, 0.2, 0.0), 0.1, 2 * math.sqrt(2)),
        ((0.4, 0.2, 0.0), 0.4, 1.0),
        ((0.4, 0.2, 0.15), 0.1, math.inf),
        ((0.1, 0.3, 0.1), 0.15, 2 * 2 ** (0.05 / 0.1)),  # 0.1 and 0.3 are pooled: luck at ε = 1
    ],
)
def test_epsilon_needed(losses: tuple[float, ...], target: float, expected: float) -> None:
    assert at_last(*losses).epsilon_needed(1000, target) == pytest.approx(expected)


def test_users_needed_is_interpolated_in_their_logarithm() -> None:
    fit = Fit([forecast(1.0, [0.9, 0.5, 0.3, 0.1])])
    assert fit.users_needed(1.0, 0.2) == pytest.approx(100 * math.sqrt(10))
    assert fit.users_needed(1.0, 0.95) == 1
    assert fit.users_needed(1.0, 0.05) == math.inf
    assert fit.loss(1.0, 1000) == pytest.approx(0.1)
    assert fit.loss(1.0, 10**6) == pytest.approx(0.1)  # the last that is known


def test_standard_errors_move_the_answer() -> None:
    one = forecast(1.0, [0.9, 0.5, 0.3, 0.1], [0.9, 0.7, 0.5, 0.3])
    low, middle, high = (Fit([one], errors).users_needed(1.0, 0.45) for errors in (-1, 0, 1))
    assert low < middle < high
