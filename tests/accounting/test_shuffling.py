"""The accountant of crowds: never below enumeration, close to it, and as published."""

from __future__ import annotations

import math
import time
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest

from ldprl.accounting.blanket import Blanket, clones, mixed, subset_blanket, together
from ldprl.accounting.composition import composed_epsilon
from ldprl.accounting.loss import delta_at
from ldprl.accounting.shuffling import (
    _expected_excess,
    _worst_law,
    central_delta,
    central_epsilon,
    crowd_pair,
    largest_local_epsilon,
    smallest_crowd,
)
from ldprl.errors import InputError
from ldprl.mechanisms.gaussian import Gaussian
from ldprl.mechanisms.laplace import Laplace
from ldprl.mechanisms.subset import SubsetOracle, subset_oracle
from ldprl.mechanisms.subset_selection import SubsetSelection
from ldprl.shape import FloatArray, Shape
from tests.accounting.crowds import (
    Law,
    clones_delta,
    exact_deltas,
    hockey_stick,
    mixture,
    shuffled,
    subset_law,
)

SMALL = [(2, 1, 6), (3, 1, 3), (3, 1, 5), (3, 2, 4), (4, 1, 4), (4, 2, 3), (5, 2, 3), (5, 1, 4)]
LOCAL = (0.5, 1.5, 3.0)
SHARES = (0.0, 0.1, 0.4, 0.7)


def oracle(items: int, size: int, epsilon: float) -> SubsetOracle:
    ratio = math.exp(epsilon) * size
    return SubsetOracle(items, size, int(Fraction(ratio / (ratio + items - size)) * 2**64))


def best(items: int, epsilon: float) -> Blanket:
    return subset_oracle(items, Fraction(repr(epsilon))).blanket()


@pytest.mark.parametrize(("items", "size", "crowd"), SMALL)
def test_never_below_enumeration(items: int, size: int, crowd: int) -> None:
    too_small = 0
    for local in LOCAL:
        blanket = oracle(items, size, local).blanket()
        laws = [subset_law(x, items, size, local) for x in range(items)]
        epsilons = [share * local for share in SHARES]
        for epsilon, exact in zip(epsilons, exact_deltas(laws, crowd, epsilons), strict=True):
            assert exact <= central_delta([blanket], crowd, epsilon)
            assert exact <= central_delta([clones(local)], crowd, epsilon)
            too_small += exact > central_delta([blanket], 2 * crowd, epsilon)
    # The power of this test: a bound that counts everybody twice is caught.
    assert too_small > 0


def test_never_below_enumeration_where_assignments_are_mixed() -> None:
    caught = 0
    for local in LOCAL:
        parts = [oracle(3, 1, local), oracle(4, 2, local)]
        for share in (0.2, 0.5, 0.9):
            shares = share, 1 - share
            # What a user would hold under either assignment; the same under one of them, too.
            laws = [
                mixture(
                    (s, subset_law(held[j], it.items, it.size, local, tag=j))
                    for j, (s, it) in enumerate(zip(shares, parts, strict=True))
                )
                for held in ((0, 0), (1, 1), (0, 1), (2, 3))
            ]
            blankets = [it.blanket() for it in parts]
            whole = mixed(zip(shares, blankets, strict=True))
            for crowd in (2, 3):
                for first, second in ((0, 1), (0, 2)):
                    order = [laws[first], laws[second], laws[3]]
                    for epsilon, exact in zip(
                        (0.0, 0.3 * local),
                        exact_deltas(order, crowd, (0.0, 0.3 * local)),
                        strict=True,
                    ):
                        known = central_delta([whole], crowd, epsilon)
                        assert (
                            exact <= known <= central_delta(blankets, crowd, epsilon) * (1 + 1e-3)
                        )
                        caught += exact > central_delta([whole], 2 * crowd, epsilon)
    assert caught > 0


@pytest.mark.parametrize("epsilon", [0.2, 1.0, 2.0])
def test_the_worst_law_dominates_every_mixture(epsilon: float) -> None:
    """E(X − t)⁺ at every t, and the mean: convex order. No single law does, as they cross."""
    laws = [
        (blanket.first - math.exp(epsilon) * blanket.second, blanket.mass)
        for blanket in (
            subset_blanket(2, 1, Fraction(22, 25)),
            subset_blanket(9, 1, Fraction(1, 2)),
        )
    ]

    def excess(law: tuple[FloatArray, FloatArray], at: FloatArray) -> FloatArray:
        values, mass = law
        rest = (1 - mass.sum()) * np.maximum(0 - at, 0)
        result: FloatArray = np.maximum(values[:, None] - at, 0).T @ mass + rest
        return result

    found = _worst_law(laws)
    at = np.linspace(-30, 30, 4001)
    one, other, worst = (excess(law, at) for law in (*laws, found))
    assert (worst >= np.maximum(one, other) - 1e-9).all()
    assert (one - other).max() > 1e-2
    assert (other - one).max() > 1e-2
    means = [float(law[0] @ law[1]) for law in (*laws, found)]
    assert means == pytest.approx([1 - math.exp(epsilon)] * 3)


def test_a_mixture_may_reveal_more_than_each_of_its_assignments() -> None:
    """The bound is that of the dominating law, and not the largest of the single laws'."""
    blankets = [subset_blanket(3, 1, Fraction(22, 25)), subset_blanket(30, 1, Fraction(7, 10))]
    alone = max(central_delta([blanket], 2, 1.0) for blanket in blankets)
    whole = central_delta([mixed(zip((0.8, 0.2), blankets, strict=True))], 2, 1.0)
    assert 1.04 * alone < whole <= central_delta(blankets, 2, 1.0)


def test_every_assignment_counts_whichever_is_named_first() -> None:
    """With the one that hides least a crowd is no more private than with that one alone."""
    blankets = [best(9, 1.0), best(2, 3.0)]
    alone = [central_delta([blanket], 50, 0.5) for blanket in blankets]
    assert alone[0] < alone[1] / 10
    for order in (blankets, blankets[::-1]):
        assert central_delta(order, 50, 0.5) >= alone[1]


def test_several_answers_are_never_below_enumeration() -> None:
    local, crowd = 1.0, 3
    one = oracle(3, 1, local)
    laws: list[Law] = []
    for held in ((0, 0), (1, 1), (0, 1), (2, 2)):
        parts = [subset_law(x, 3, 1, local) for x in held]
        laws.append({(a, b): p * q for a, p in parts[0].items() for b, q in parts[1].items()})
    blanket = together([one.blanket(), one.blanket()])
    assert blanket.weight == pytest.approx(one.blanket().weight ** 2)
    assert blanket.local_epsilon == pytest.approx(2 * local)
    for second in (1, 2):
        order = [laws[0], laws[second], *laws]
        for epsilon, exact in zip(
            (0.0, 0.5, 1.2), exact_deltas(order, crowd, (0.0, 0.5, 1.2)), strict=True
        ):
            assert exact <= central_delta([blanket], crowd, epsilon)


@pytest.mark.parametrize("crowd", [1, 2, 7, 60, 400])
@pytest.mark.parametrize("local", [0.3, 2.0, 5.0])
def test_the_integral_is_the_sum_of_theorem_3_2(crowd: int, local: float) -> None:
    for share in (0.0, 0.05, 0.3, 0.8, 0.99):
        exact = clones_delta(local, crowd, share * local)
        bound = central_delta([clones(local)], crowd, share * local)
        if exact > 1e-12:
            assert (
                exact * (1 - 1e-12)
                <= bound
                <= (1.01 if crowd > math.exp(local) else 1.05) * exact + 1e-12
            )
        assert central_delta([clones(local)], crowd, local * (1 + 1e-9)) == 0


def test_a_user_alone_has_the_local_profile() -> None:
    blanket = best(7, 2.0)
    pair = subset_oracle(7, Fraction(2)).loss_pair()
    for epsilon in (0.0, 0.7, 1.5):
        exact = float(np.maximum(pair.first - math.exp(epsilon) * pair.second, 0).sum())
        assert exact <= central_delta([blanket], 1, epsilon) <= exact * 1.01


@pytest.mark.parametrize("rare", [0.148, 0.3])
def test_far_below_what_an_integral_resolves_it_is_a_bound_still(rare: float) -> None:
    """S > 0 takes that none of n reports is the low one: then it is 1 at least as often as once."""
    crowd = 1000
    least = (1 - rare) ** (crowd - 1)
    found = _expected_excess(np.array([1.0, -1e4]), np.array([1 / crowd, rare]), crowd)
    assert least < 1e-69
    assert least <= found <= 2 * least


def test_figures_computed_independently() -> None:
    # By another program, with binomial tails and a fast Fourier transform rounded up.
    for crowd, local in ((10**4, 4.44), (10**5, 6.70), (10**6, 8.99)):
        assert largest_local_epsilon(crowd, 1.0, 1e-8) == pytest.approx(local, abs=0.006)
    for local, crowd, central in ((2.0, 10**3, 0.68), (2.0, 10**4, 0.20), (4.0, 10**4, 0.76)):
        assert central_epsilon([clones(local)], crowd, 1e-8) == pytest.approx(central, abs=0.006)
    for items, local, crowd, central in (
        (51, 6.7, 10**5, 0.64),
        (626, 6.7, 10**5, 0.47),
        (51, 2.0, 10**4, 0.102),
        (51, 6.7, 50_000, 0.96),
    ):
        found = central_epsilon([best(items, local)], crowd, 1e-8)
        assert found == pytest.approx(central, abs=0.005)


@pytest.mark.parametrize(("local", "crowd"), [(1.0, 10**4), (2.0, 10**5), (4.0, 10**6)])
def test_below_the_published_closed_form(local: float, crowd: int) -> None:
    """Feldman, McMillan & Talwar 2021, theorem 3.1, whose numerical form this is."""
    delta, odds = 1e-8, math.exp(local)
    assert local <= math.log(crowd / (16 * math.log(2 / delta)))
    spread = 8 * math.sqrt(odds * math.log(4 / delta) / crowd) + 8 * odds / crowd
    closed = math.log1p((odds - 1) / (odds + 1) * spread)
    assert closed / 10 < central_epsilon([clones(local)], crowd, delta) < closed


def test_between_the_authors_own_bounds() -> None:
    """The figures that the repository beside the paper of 2021 prints as its example."""
    found = central_epsilon([clones(4.0)], 10**5, 1e-6)
    assert 0.1675385583317841 < found < 0.172790550755978


def test_the_three_directions_agree_and_err_to_the_safe_side() -> None:
    crowd, delta = 20_000, 1e-8
    local = largest_local_epsilon(crowd, 1.0, delta)
    found = central_epsilon([clones(local)], crowd, delta)
    assert 1 - 1e-4 < found <= 1.0 + 1e-6
    assert central_delta([clones(local)], crowd, found) <= delta
    assert central_delta([clones(local)], crowd, 1.0) <= delta
    least = smallest_crowd([clones(local)], 1.0, delta)
    assert 0.999 * crowd < least <= crowd
    assert central_delta([clones(local)], least, 1.0) <= delta
    assert central_delta([clones(local)], least - 1, 1.0) > delta


def test_larger_crowds_larger_epsilons_and_smaller_local_ones_are_more_private() -> None:
    def of(local: float, crowd: int, epsilon: float) -> float:
        return central_delta([clones(local)], crowd, epsilon)

    for steps in (
        [of(3.0, crowd, 0.2) for crowd in (10, 30, 100, 1000, 10**6)],
        [of(3.0, 200, epsilon) for epsilon in np.linspace(0, 2.9, 20)],
        [of(local, 200, 0.2) for local in (5.0, 3.0, 2.0, 1.0)],
    ):
        assert all(later <= earlier for earlier, later in pairwise(steps))


def test_ten_to_the_ninth_in_seconds() -> None:
    start = time.process_time()
    assert central_epsilon([best(51, 6.7)], 10**9, 1e-8) == pytest.approx(0.0049, rel=0.01)
    assert largest_local_epsilon(10**9, 1.0, 1e-8) == pytest.approx(15.9, abs=0.01)
    assert smallest_crowd([clones(15.0)], 1.0, 1e-8) > 10**8
    assert time.process_time() - start < 10


def test_participations_compose_never_below_enumeration() -> None:
    local, crowd = 1.5, 3
    laws = [subset_law(x, 3, 1, local) for x in range(3)]
    pair = crowd_pair([oracle(3, 1, local).blanket()], crowd)
    for others in ((0, 1), (2, 2), (1, 2)):
        rest = [laws[x] for x in others]
        one, two = shuffled([laws[0], *rest]), shuffled([laws[1], *rest])
        twice = [
            {(a, b): p * q for a, p in law.items() for b, q in law.items()} for law in (one, two)
        ]
        for epsilon in (0.0, 0.5, 1.0, 2.0):
            exact = hockey_stick(twice[0], twice[1], epsilon)
            assert exact <= delta_at([replace(pair, copies=2)], epsilon)
            assert hockey_stick(one, two, epsilon) <= delta_at([pair], epsilon)


def test_participations_compose_up_to_what_a_report_alone_says() -> None:
    """It may be that all the others say nothing: the largest loss stays ε₀, however rare it is."""
    local, crowd = 4.0, 10**5
    pair = crowd_pair([clones(local)], crowd)
    shared = (pair.first > 0) & (pair.second > 0)
    assert np.log(pair.first[shared] / pair.second[shared]).max() == pytest.approx(local)
    for epsilon in np.linspace(0, local, 20, endpoint=False).tolist():
        found = np.maximum(pair.first - math.exp(epsilon) * pair.second, 0).sum()
        assert found >= central_delta([clones(local)], crowd, epsilon) * (1 - 1e-6)


def test_ten_participations_cost_far_less_than_ten_times_one() -> None:
    blankets = [clones(6.7)]
    pair = crowd_pair(blankets, 10**5)
    once = central_epsilon(blankets, 10**5, 1e-8)
    assert once <= composed_epsilon([pair], 1e-8) < 1.001 * once
    assert 2 * once < composed_epsilon([replace(pair, copies=10)], 1e-8) < 4 * once


def test_what_a_mechanism_knows_of_itself() -> None:
    shape = Shape(25, 4, 10)
    subset = SubsetSelection(shape, 6.7)
    assert central_epsilon(subset.blankets(), 10**5, 1e-8) == pytest.approx(0.638, abs=0.002)
    laplace = Laplace(shape, 6.7)
    assert central_epsilon(laplace.blankets(), 10**5, 1e-8) == pytest.approx(1.0026, abs=0.001)
    with pytest.raises(InputError, match="δ = 0"):
        Gaussian(shape, 1.0, 1e-6).blankets()
    assert SubsetSelection(Shape(3, 2, 5), 20.0, answers=2).blankets()[0].local_epsilon <= 20


@pytest.mark.parametrize(
    "call",
    [
        lambda: central_epsilon([clones(1.0)], 0, 1e-8),
        lambda: central_epsilon([clones(1.0)], 10**13, 1e-8),
        lambda: central_epsilon([clones(1.0)], 10, 0.0),
        lambda: clones(31.0),
        lambda: clones(-1.0),
        lambda: smallest_crowd([clones(25.0)], 0.1, 1e-8),
        lambda: mixed([(0.5, clones(1.0)), (0.6, clones(1.0))]),
    ],
)
def test_bad_input_is_refused(call: object) -> None:
    with pytest.raises(InputError):
        call()  # type: ignore[operator]


def test_the_blanket_of_subset_selection_is_a_law() -> None:
    for items, size in ((2, 1), (5, 1), (5, 3), (51, 6)):
        one = oracle(items, size, 1.3)
        blanket = subset_blanket(items, size, one.keep)
        assert float(blanket.first @ blanket.mass) == pytest.approx(1, abs=1e-12)
        assert float(blanket.second @ blanket.mass) == pytest.approx(1, abs=1e-12)
        assert blanket.local_epsilon == pytest.approx(1.3, abs=1e-12)
