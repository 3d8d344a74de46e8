"""The recommendation follows its rule, on forecasts made up for it."""

from __future__ import annotations

import math

import numpy as np
import pytest

from ldprl.advice.choice import best_at, cheapest, rounded_up
from ldprl.advice.forecast import Forecast
from ldprl.catalogue import Pair

USUAL, RIVAL = Pair("ldp-evi", "subset-selection"), Pair("ldp-ts", "subset-selection")
USERS = 100


def forecast(pair: Pair, epsilon: float, *losses: float) -> Forecast:
    """Return a forecast with these losses after 100 users, one of each run."""
    rows = np.array(losses)
    return Forecast(pair, epsilon, np.array([USERS]), rows[:, None], rows[:, None], rows)


@pytest.mark.parametrize(
    ("usual", "rival", "expected"),
    [
        ((0.30, 0.32), (0.10, 0.11), RIVAL),
        ((0.30, 0.30), (0.20, 0.20), USUAL),  # more than half
        ((0.06, 0.06), (0.02, 0.02), USUAL),  # less than 0.05 apart
        ((0.55, 0.05), (0.02, 0.06), USUAL),  # within two standard errors
        ((0.10, 0.10), (0.90, 0.90), USUAL),
        ((0.90,), (0.10,), USUAL),  # one run proves nothing
    ],
)
def test_the_usual_pair_unless_another_is_clearly_better(
    usual: tuple[float, ...], rival: tuple[float, ...], expected: Pair
) -> None:
    both = [forecast(USUAL, 1.0, *usual), forecast(RIVAL, 1.0, *rival)]
    assert best_at(both, USERS, USUAL) == expected


@pytest.mark.parametrize(
    ("usual", "rival", "expected"),
    [
        (4.0, 1.0, RIVAL),
        (4.0, 3.0, USUAL),
        (math.inf, 10.0, RIVAL),
        (math.inf, math.inf, USUAL),
    ],
)
def test_cheapest(usual: float, rival: float, expected: Pair) -> None:
    assert cheapest({USUAL: usual, RIVAL: rival}, USUAL) == expected


def test_rounded_up_to_two_digits() -> None:
    assert [rounded_up(value) for value in (0.951, 0.95, 241_000.0, 1.0)] == [
        *(0.96, 0.95, 250_000.0, 1.0)
    ]
