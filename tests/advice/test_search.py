"""The search, on losses that are known: c/(ε·√users), with another c for each pair."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import pytest

from ldprl.advice.forecast import Forecast
from ldprl.advice.search import Search, best_at, cheapest, rounded_up
from ldprl.catalogue import Pair

USUAL, RIVAL = Pair("ldp-evi", "subset-selection"), Pair("ldp-ts", "subset-selection")
TARGET, RUNS, USERS, FEW_USERS = 0.1, 30, 10_000, 100


class Losses:
    """Forecasts by the formula; counts the runs that were asked for."""

    def __init__(self, usual: float, rival: float) -> None:
        self.factors = {USUAL: usual, RIVAL: rival}
        self.runs = 0

    def __call__(
        self, wanted: Sequence[tuple[Pair, float | None]], users: int, runs: int
    ) -> list[Forecast]:
        points = np.unique(np.geomspace(1, users, 200).astype(np.int64))
        found = []
        for pair, epsilon in wanted:
            assert epsilon is not None
            row = np.minimum(self.factors[pair] / (epsilon * np.sqrt(points)), 1.0)
            rows = np.tile(row, (runs, 1))
            found.append(Forecast(pair, epsilon, points, rows, rows, rows[:, -1]))
            self.runs += runs
        return found

    def search(self) -> Search:
        return Search(self, (USUAL, RIVAL), USUAL, TARGET, RUNS)


@pytest.mark.parametrize(
    ("usual", "rival", "taken"),
    [
        (5.0, 4.0, USUAL),
        (5.0, 3.2, USUAL),  # more than half the ε; the search is exact to a quarter
        (5.0, 2.0, RIVAL),
        (200.0, 150.0, USUAL),  # neither comes down to the target
        (200.0, 50.0, RIVAL),  # the usual pair does not
        (0.4, 5.0, USUAL),  # far below the first ε that is tried
    ],
)
def test_the_least_epsilon_and_who_needs_it(usual: float, rival: float, taken: Pair) -> None:
    losses = Losses(usual, rival)
    level, compared, near = losses.search().epsilon(USERS)
    assert {one.pair for one in near} == {taken}
    exact = losses.factors[taken] / (TARGET * math.sqrt(USERS))
    if exact > 10:
        assert level == 10.0
    else:
        assert exact <= level <= 1.3 * exact
        assert any(one.level < exact for one in near)
    (chosen,) = (one for one in near if one.level == level)
    assert len(chosen.losses) == RUNS
    assert [(one.pair, one.level) for one in compared] == [(USUAL, level), (RIVAL, level)]
    assert {one.pair: len(one.losses) for one in compared}[taken] == RUNS


@pytest.mark.parametrize("usual", [200.0, 150.0])
def test_no_more_than_the_largest_epsilon_is_recommended_by_few_runs(usual: float) -> None:
    """As many runs at twice the ε, which is only there to be compared with, tempt nobody."""
    search = Search(Losses(usual, usual), (USUAL,), USUAL, TARGET, 3)
    assert search.epsilon(USERS)[0] == 10.0


def test_few_runs_are_spent_far_from_the_answer() -> None:
    losses = Losses(5.0, 4.0)
    losses.search().epsilon(USERS)
    assert losses.runs <= 2 * RUNS + 6 * 8


def test_the_least_number_of_users_and_who_needs_it() -> None:
    for rival, taken in ((4.0, USUAL), (1.0, RIVAL)):
        losses = Losses(5.0, rival)
        users, compared, near = losses.search().users(1.0)
        exact = (losses.factors[taken] / TARGET) ** 2
        assert {one.pair for one in near} == {taken}
        assert exact <= users <= 1.3 * exact
        assert [one.level for one in near] == [0.5, 1.0, 2.0]
        assert len(compared) == 2


def test_with_both_numbers_the_pair_is_chosen_by_its_loss() -> None:
    for rival, taken in ((40.0, USUAL), (10.0, RIVAL)):
        compared, near = Losses(50.0, rival).search().pair(USERS, 1.0)
        assert {one.pair for one in near} == {taken}
        assert [one.level for one in compared] == [1.0, 1.0]


def forecast(pair: Pair, epsilon: float, *losses: float) -> Forecast:
    """Return a forecast with these losses after 100 users, one of each run."""
    rows = np.array(losses)
    return Forecast(pair, epsilon, np.array([FEW_USERS]), rows[:, None], rows[:, None], rows)


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
    assert best_at(both, FEW_USERS, USUAL) == expected


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
