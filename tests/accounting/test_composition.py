"""Costs of several reports: exact sums, and losses that are composed and never too small."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from dp_accounting.pld import common
from dp_accounting.pld import privacy_loss_distribution as pld
from hypothesis import given, settings
from hypothesis import strategies as st

from ldprl import InputError, Laplace, Shape
from ldprl.accounting.composition import (
    Budget,
    Number,
    composed_epsilon,
    spent_together,
    worst_pairs,
)
from ldprl.accounting.loss import LossPair


def true_delta(costs: list[Budget], epsilon: float) -> float:
    """Return Σ (P − e^ε Q)⁺ over all joint outcomes of the worst pairs, one by one."""
    pairs = [pair for cost in costs for pair in worst_pairs([cost])]
    total = 0.0
    for outcome in product(range(4), repeat=len(pairs)):
        first = math.prod(p.first[i] for p, i in zip(pairs, outcome, strict=True))
        second = math.prod(p.second[i] for p, i in zip(pairs, outcome, strict=True))
        total += max(first - math.exp(epsilon) * second, 0.0)
    return total


def test_decimals_add_up_exactly() -> None:
    assert 0.1 + 0.2 > 0.3, "floats do not"
    tenths = [Budget(0.1), Budget("0.2")]
    assert spent_together(tenths).epsilon == 0.3
    assert Budget(Fraction(1, 3)) == Budget("1/3")


@pytest.mark.parametrize("epsilon", [0, -1, math.inf, math.nan, "x", "1e400", None, True])
def test_epsilon_is_a_positive_number(epsilon: Number) -> None:
    with pytest.raises(InputError, match=r"epsilon = .*: expected a finite number"):
        Budget(epsilon)


@pytest.mark.parametrize("delta", [1, -0.1, "1.5", math.nan])
def test_delta_is_a_probability(delta: Number) -> None:
    with pytest.raises(InputError, match="delta = "):
        Budget(1, delta)
    with pytest.raises(InputError, match="delta = "):
        spent_together([Budget(1)], delta)


def test_nothing_costs_nothing() -> None:
    spent = spent_together([], 0.1)
    assert (spent.reports, spent.epsilon, spent.basic_epsilon) == (0, 0.0, Fraction(0))


costs = st.builds(
    Budget,
    st.sampled_from(["0.1", "0.5", "1", "2.5", "7"]),
    st.sampled_from(["0", "0.001", "0.05"]),
)


@settings(max_examples=30, deadline=None)
@given(st.lists(costs, min_size=1, max_size=4), st.sampled_from([1e-6, 0.01, 0.2]))
def test_what_is_said_to_be_spent_is_never_too_little(spends: list[Budget], delta: float) -> None:
    """At the ε that is given, the worst mechanisms with these (ε, δ) have at most this δ.

    And it is not far too much either: at an ε 1% smaller they have more, unless the sums or ε = 0
    are what counts. Rounding of the enumeration: 1e-12.
    """
    spent = spent_together(spends, delta)
    if math.isinf(spent.epsilon):
        assert true_delta(spends, 100.0) > delta - 1e-9
        return
    assert true_delta(spends, spent.epsilon) <= delta + 1e-12
    by_losses = composed_epsilon(worst_pairs(spends), delta)
    if 0 < by_losses < math.inf:
        assert true_delta(spends, 0.99 * by_losses - 1e-4) > delta - 1e-9


@pytest.mark.parametrize(
    ("epsilon", "delta", "copies"), [(0.1, 0.0, 300), (0.5, 1e-9, 40), (1.0, 0.0, 8)]
)
def test_agrees_with_dp_accounting(epsilon: float, delta: float, copies: int) -> None:
    """Both bound from above; each has a grid, of 1e-4 and of at most 2ε/2⁸ a report."""
    theirs = pld.from_privacy_parameters(
        common.DifferentialPrivacyParameters(epsilon, delta), value_discretization_interval=1e-4
    ).self_compose(copies)
    ours = spent_together([Budget(epsilon, delta)] * copies, 1e-6).epsilon
    assert ours == pytest.approx(theirs.get_epsilon_for_delta(1e-6), rel=0.005)
    assert ours < epsilon * copies


def test_many_reports_cost_less_than_their_sum_and_few_no_more() -> None:
    for count in (1, 2, 5, 50, 500):
        spent = spent_together([Budget("0.1")] * count, 1e-6)
        assert spent.epsilon <= float(spent.basic_epsilon)
    assert spent.epsilon < 0.3 * float(spent.basic_epsilon)


def test_without_delta_only_the_sum_is_known() -> None:
    assert spent_together([Budget(1)] * 50).epsilon == 50
    assert spent_together([Budget(1, 0.1)], 0).epsilon == math.inf
    assert spent_together([Budget(1, 0.4)] * 3).epsilon == math.inf, "δ adds up to more than 1"


def test_hopeless_reports_are_added_up() -> None:
    assert spent_together([Budget(50)] * 300, 1e-6).epsilon == 15000
    assert spent_together([Budget(1e5), Budget(0.1)], 1e-6).epsilon == 100000.1


def test_a_mechanisms_own_losses_cost_no_more_than_the_worst_of_its_epsilon() -> None:
    mechanism = Laplace(Shape(2, 2, 2), 1.0)
    own = [LossPair(p.first, p.second, 20 * p.copies) for p in mechanism.loss_pairs()]
    worst = composed_epsilon(worst_pairs([Budget(1)] * 20), 1e-6)
    assert composed_epsilon(own, 1e-6) < worst


def test_the_worst_pair_is_what_its_name_says() -> None:
    """Its δ(ε) is δ, and at ε = 0 it is distinguished with δ + (1 − δ)·tanh(ε/2)."""
    pair = worst_pairs([Budget(1.5, 0.2)])[0]
    assert pair.first.sum() == pytest.approx(1, abs=1e-15)
    assert np.maximum(pair.first - math.exp(1.5) * pair.second, 0).sum() == pytest.approx(0.2)
    distance = np.maximum(pair.first - pair.second, 0).sum()
    assert distance == pytest.approx(0.2 + 0.8 * math.tanh(0.75))


def test_who_is_who_may_change_between_reports() -> None:
    """Composing one order of an asymmetric pair does not bound a mixture of both, so it is refused.

    The mirror image of a symmetric pair may list its outcomes in any order.
    """
    lopsided = LossPair(np.array([0.6, 0.3, 0.1]), np.array([0.2, 0.3, 0.5]))
    assert composed_epsilon([lopsided], 0.1) == math.inf
    reordered = LossPair(np.array([0.2, 0.5, 0.1, 0.2]), np.array([0.2, 0.1, 0.5, 0.2]))
    assert composed_epsilon([reordered], 0.1) == pytest.approx(math.log(4), rel=1e-4)


def test_unequal_costs_are_added_up_even_where_composing_would_give_less() -> None:
    """They may have been chosen one after the other."""
    costs = [Budget("0.1")] * 30 + [Budget("0.2")] * 30
    assert spent_together(costs, 1e-6).epsilon == pytest.approx(9.0)
    assert spent_together(costs[:30], 1e-6).epsilon < 2.9
