"""A budget holds against a service that chooses each cost after seeing the earlier reports."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable, Sequence
from decimal import Decimal
from functools import cache

import numpy as np
import pytest

from ldprl.accounting.composition import Budget, composed_epsilon, worst_pairs
from ldprl.accounting.filter import admits, divergence, divergence_bound

Rule = Callable[[Sequence[Budget], Budget], bool]


def as_if_fixed_in_advance(costs: Sequence[Budget], budget: Budget) -> bool:
    """The mutant: adds up, or composes the losses of the realised costs. Not sound."""
    if sum(c.epsilon for c in costs) <= budget.epsilon and sum(c.delta for c in costs) <= (
        budget.delta
    ):
        return True
    return composed_epsilon(worst_pairs(costs), float(budget.delta)) < float(budget.epsilon)


def sums_or_divergences_without_a_split(costs: Sequence[Budget], budget: Budget) -> bool:
    """The mutant: all of δ pays for both rules at once. Not sound where reports have a δ."""
    if sum(c.delta for c in costs) > budget.delta:
        return False
    if sum(c.epsilon for c in costs) <= budget.epsilon:
        return True
    order, epsilon, delta = 4.0, float(budget.epsilon), float(budget.delta)
    spent = sum(float(divergence(order, float(c.epsilon))) for c in costs)
    return spent <= float(divergence_bound(order, epsilon, delta))


def worst_delta(rule: Rule, budget: Budget, menu: Sequence[Budget], longest: int) -> float:
    """Return the largest δ(ε) of any strategy that picks costs from ``menu`` as ``rule`` allows.

    By dynamic programming over (first cost, how many of each cost, realised loss). Each report is
    the worst with its (ε, δ): with probability δ it gives the user away, else its loss is ε with
    probability e^ε/(1 + e^ε) under the one input, and −ε otherwise. Exact up to rounding.
    """
    target = float(budget.epsilon)
    allowed = cache(lambda spent: rule(spent, budget))

    @cache
    def value(spent: tuple[Budget, ...], loss: float) -> float:
        best = max(0.0, 1 - math.exp(target - loss))
        if len(spent) == longest:
            return best
        for cost in menu:
            # The first cost stays in front; the order of the others does not matter to the rules.
            more = (*spent, cost)
            after = (more[0], *sorted(more[1:], key=lambda c: (c.epsilon, c.delta)))
            if allowed(after):
                epsilon, revealed = float(cost.epsilon), float(cost.delta)
                up = 1 / (1 + math.exp(-epsilon))
                higher = value(after, round(loss + epsilon, 9))
                lower = value(after, round(loss - epsilon, 9))
                best = max(best, revealed + (1 - revealed) * (up * higher + (1 - up) * lower))
        return best

    return value((), 0.0)


def menu(*epsilons: str, deltas: Sequence[str] = ("0",)) -> list[Budget]:
    return [Budget(epsilon, delta) for epsilon in epsilons for delta in deltas]


CASES = [
    (Budget(2, "0.01"), menu("0.1", "0.5", "1", "2"), 14),
    (Budget(2, "0.01"), menu("0.25", "0.5", "1"), 16),
    (Budget(1, "0.1"), menu("0.2", "0.6", "1"), 14),
    (Budget(3, "0.001"), menu("0.5", "1", "2.5"), 12),
    (Budget(2, "0.01"), menu("0.5", "1", deltas=("0", "0.005", "0.01")), 7),
    (Budget(1, "0.2"), menu("0.3", "0.9", deltas=("0", "0.1", "0.2")), 6),
]


@pytest.mark.parametrize(("budget", "costs", "longest"), CASES)
def test_no_adaptive_strategy_exceeds_the_budget(
    budget: Budget, costs: list[Budget], longest: int
) -> None:
    assert worst_delta(admits, budget, costs, longest) <= float(budget.delta) + 1e-12


def test_composing_realised_costs_is_convicted() -> None:
    """Pure costs alone give 1.56 times the stated δ, and reports with a δ 1.25 times."""
    for (budget, costs, longest), excess in ((CASES[1], 1.5), (CASES[5], 1.2)):
        found = worst_delta(as_if_fixed_in_advance, budget, costs, longest)
        assert found > excess * float(budget.delta)


def test_spending_delta_twice_is_convicted() -> None:
    budget = Budget(1, "0.2")
    costs = menu("0.3", "0.9", deltas=("0", "0.2"))
    found = worst_delta(sums_or_divergences_without_a_split, budget, costs, 8)
    assert found > 1.05 * float(budget.delta)


def test_without_delta_costs_add_up_exactly() -> None:
    tenths = [Budget(0.1), Budget("0.2")]
    assert admits(tenths, Budget(0.3))
    assert not admits([*tenths, Budget("1e-30")], Budget(0.3))
    assert admits([Budget(1, 0.1), Budget(1, 0.2)], Budget(2, Decimal("0.3")))
    assert not admits([Budget(1, 0.1), Budget(1, 0.2)], Budget(2, Decimal("0.2999")))
    assert admits([Budget("0.1")] * 50, Budget(5))
    assert not admits([Budget("0.1")] * 51, Budget(5))


def test_a_budget_admits_a_single_report_of_its_own_size() -> None:
    assert admits([Budget(1, "1e-5")], Budget(1, "1e-5"))
    assert admits([Budget(50)], Budget(50, "1e-5"))
    assert not admits([Budget(1e5), Budget("0.1")], Budget(1e5, "1e-6"))


def test_the_order_is_that_of_the_first_report(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of the first in a stretch, or of the first ever: a later choice must not move it."""
    chosen: list[Budget] = []

    def noted(costs: Sequence[Budget], first: Budget, epsilon: float, tail: float) -> bool:
        chosen.append(first)
        return True

    monkeypatch.setattr("ldprl.accounting.filter._divergences_fit", noted)
    costs = menu("0.7", "0.2", "0.9")
    assert admits(costs, Budget("1", "1e-6"))
    assert admits(costs, Budget("1", "1e-6"), Budget("0.5"))
    assert chosen == [Budget("0.7"), Budget("0.5")]


def test_half_of_delta_is_left_for_reports_with_their_own() -> None:
    assert admits([Budget(1), Budget(1, "0.05")], Budget(2, "0.1"))
    assert not admits([Budget(1), Budget(1, "0.06")], Budget(2, "0.1"))


def test_a_budget_with_delta_admits_more_small_reports_than_the_sum_does() -> None:
    budget = Budget(5, "1e-6")
    refused = bisect_left(range(200), True, key=lambda n: not admits([Budget("0.1")] * n, budget))
    assert 85 < refused < 110
    mixed = [Budget("0.1"), Budget("0.05")] * 45
    assert sum(cost.epsilon for cost in mixed) > 5
    assert admits(mixed, budget)


@pytest.mark.parametrize("order", [1.3, 2.0, 7.5, 300.0])
@pytest.mark.parametrize("epsilon", [0.01, 1.0, 30.0])
def test_the_divergence_is_that_of_randomized_response(order: float, epsilon: float) -> None:
    losses = np.array([epsilon, -epsilon])
    log_odds = losses - np.logaddexp(0, epsilon) + np.array([0.0, epsilon])
    expected = np.logaddexp.reduce(log_odds + (order - 1) * losses) / (order - 1)
    assert float(divergence(order, epsilon)) == pytest.approx(float(expected), rel=1e-9)


@pytest.mark.parametrize("order", [1.3, 2.0, 7.5])
def test_the_bound_is_tight_at_one_loss(order: float) -> None:
    """The constant is the least: at e^{−x} = 1 − 1/α both sides are equal."""
    x = -math.log1p(-1 / order)
    for loss in (x, x - 0.3, x + 0.3):
        moment = math.exp((order - 1) * (loss - 2.0))
        bound = float(divergence_bound(order, 2.0, 0.01))
        delta = 0.01 * moment * math.exp(-(order - 1) * (bound - 2.0))
        assert (1 - math.exp(-(loss - 2.0)) <= delta * (1 + 1e-9)) or loss <= 2
    tight = 1 - math.exp(-x)
    bound = float(divergence_bound(order, 2.0, tight))
    assert bound == pytest.approx(2.0 + x, rel=1e-9)
