"""The recommendation follows its rule, on forecasts made up for it."""

from __future__ import annotations

import math

import numpy as np
import pytest

from ldprl.advice.choice import best_at, cheapest, epsilon_needed
from ldprl.advice.forecast import Forecast
from ldprl.advice.pairs import PREFERRED, Pair

RIVAL = Pair("ldp-ts", "subset-selection")
USERS = 100


def forecast(pair: Pair, epsilon: float, *losses: float) -> Forecast:
    """Return a forecast with these losses after 100 users, one a run."""
    return Forecast(pair, epsilon, np.array([USERS]), np.array(losses)[:, None])


def line(pair: Pair, **losses: float) -> list[Forecast]:
    return [forecast(pair, float(name[1:]), loss) for name, loss in losses.items()]


@pytest.mark.parametrize(
    ("losses", "target", "expected"),
    [
        ({"e1": 0.4, "e2": 0.2, "e4": 0.0}, 0.1, 2.9),  # 2·2^(1/2) = 2.83
        ({"e1": 0.4, "e2": 0.2, "e4": 0.0}, 0.4, 1.0),
        ({"e1": 0.4, "e2": 0.2, "e4": 0.15}, 0.1, math.inf),
        ({"e1": 0.1, "e2": 0.3, "e4": 0.1}, 0.2, 2.9),  # luck at ε = 1 does not count
    ],
)
def test_epsilon_needed(losses: dict[str, float], target: float, expected: float) -> None:
    assert epsilon_needed(line(PREFERRED, **losses), USERS, target) == expected


@pytest.mark.parametrize(
    ("usual", "rival", "expected"),
    [
        ((0.30, 0.30), (0.10, 0.10), RIVAL),
        ((0.30, 0.30), (0.20, 0.20), PREFERRED),  # more than half
        ((0.06, 0.06), (0.02, 0.02), PREFERRED),  # less than 0.05 apart
        ((0.55, 0.05), (0.02, 0.06), PREFERRED),  # worse in one run
        ((0.10, 0.10), (0.90, 0.90), PREFERRED),
    ],
)
def test_the_usual_pair_unless_another_is_clearly_better(
    usual: tuple[float, ...], rival: tuple[float, ...], expected: Pair
) -> None:
    both = [forecast(PREFERRED, 1.0, *usual), forecast(RIVAL, 1.0, *rival)]
    assert best_at(1.0, both, USERS) == expected


def test_cheapest_is_by_epsilon() -> None:
    usual = line(PREFERRED, e1=0.4, e2=0.3, e4=0.1)
    assert cheapest([*usual, *line(RIVAL, e1=0.1, e2=0.1, e4=0.1)], USERS, 0.1) == (RIVAL, 1.0)
    assert cheapest([*usual, *line(RIVAL, e1=0.5, e2=0.2, e4=0.1)], USERS, 0.1) == (PREFERRED, 4.0)


def test_where_nothing_is_enough_the_best_at_the_largest_epsilon() -> None:
    both = [*line(PREFERRED, e1=0.9, e4=0.8), *line(RIVAL, e1=0.9, e4=0.3)]
    assert cheapest(both, USERS, 0.1) == (RIVAL, 4.0)
