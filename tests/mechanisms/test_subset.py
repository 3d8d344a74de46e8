"""Subset selection in exact numbers: its ratio, its law, its moments and its ranges."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal, localcontext
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from ldprl.mechanisms.row_laws import RowLaw
from ldprl.mechanisms.sampling import RandomSource
from ldprl.mechanisms.subset import CellMoments, SubsetOracle, _threshold, subset_oracle
from ldprl.mechanisms.subset_laws import cell_error, reach, row_law
from ldprl.shape import Array
from tests.mechanisms.subsets import Subset, chance_of, counts, expectation, subsets

SMALL = [(2, 1), (3, 1), (3, 2), (5, 1), (5, 2), (6, 3), (7, 2)]
EPSILON = Fraction(13, 10)
EXACT = 1e-12


def oracle_of(items: int, size: int, epsilon: Fraction = EPSILON) -> SubsetOracle:
    return SubsetOracle(items, size, _threshold(items, size, epsilon))


def exceeds(ratio: Fraction, epsilon: Fraction) -> bool:
    """Whether ratio > e^ε, in numbers of 150 digits."""
    with localcontext() as context:
        context.prec = 150
        power = (Decimal(epsilon.numerator) / Decimal(epsilon.denominator)).exp()
        return Decimal(ratio.numerator) / Decimal(ratio.denominator) > power


@settings(max_examples=300, deadline=None, derandomize=True)
@given(
    items=st.integers(2, 5000),
    share=st.floats(0, 1),
    epsilon=st.one_of(st.floats(1e-9, 50), st.floats(50, 1e6)),
)
def test_no_report_is_likelier_by_more_than_e_to_the_epsilon(
    items: int, share: float, epsilon: float
) -> None:
    """Whatever the size of the report; and one more in 2⁶⁴ would be too many."""
    exact = Fraction(repr(epsilon))
    for oracle in (
        subset_oracle(items, exact),
        oracle_of(items, 1 + int(share * (items - 2)), exact),
    ):
        assert not exceeds(oracle.ratio, exact)
        assert oracle.epsilon <= epsilon * (1 + 1e-15) + 1e-15
        if oracle.threshold < 2**64 - 1:
            assert exceeds(SubsetOracle(items, oracle.size, oracle.threshold + 1).ratio, exact)


def test_rounding_to_the_nearest_would_exceed_it() -> None:
    """The mutant: T one larger where that is nearer breaks ε in about half of all cases."""
    broken = 0
    for items in range(3, 103):
        oracle = subset_oracle(items, EPSILON)
        with localcontext() as context:
            context.prec = 60
            odds = Decimal("1.3").exp() * oracle.size
            nearest = int((odds / (odds + items - oracle.size) * 2**64).to_integral_value())
        broken += exceeds(SubsetOracle(items, oracle.size, nearest).ratio, EPSILON)
    assert 25 < broken < 75


@pytest.mark.parametrize(("items", "epsilon"), [(5, 2.0), (9, 0.2), (101, 2.0), (201, 8.0), (2, 1)])
def test_the_size_is_the_one_of_least_variance(items: int, epsilon: float) -> None:
    exact = Fraction(repr(float(epsilon)))
    noise = {
        size: CellMoments.of(oracle_of(items, size, exact), 1).outside for size in range(1, items)
    }
    assert noise[subset_oracle(items, exact).size] == min(noise.values())


class Scripted(RandomSource):
    """Answers with what a script says, and asks for more where it ends."""

    def __init__(self, kept: bool, script: list[int]) -> None:
        self.kept, self.script = kept, script
        self.place, self.chance = 0, Fraction(1)

    def random_bytes(self, count: int) -> bytes:
        raise NotImplementedError

    def words(self, count: int) -> NDArray[np.uint64]:
        return np.full(count, 0 if self.kept else 2**64 - 1, dtype=np.uint64)

    def below_many(self, bound: int, count: int) -> Array:
        if count == 0:
            return np.zeros(0, dtype=np.int64)
        self.chance /= bound
        if self.place == len(self.script):
            raise ScriptEndedError(bound)
        self.place += 1
        return np.full(count, self.script[self.place - 1], dtype=np.int64)


class ScriptEndedError(Exception):
    """The script ended before the draws did."""

    def __init__(self, bound: int) -> None:
        super().__init__(bound)
        self.bound = bound


def outcomes(
    oracle: SubsetOracle, item: int, kept: bool, script: list[int]
) -> Iterator[tuple[Subset, Fraction]]:
    """Yield every report that ``draw`` can make, with the probability of getting there."""
    source = Scripted(kept, script)
    try:
        report = oracle.draw_many(item, 1, source)[0]
    except ScriptEndedError as needed:
        for pick in range(needed.bound):
            yield from outcomes(oracle, item, kept, [*script, pick])
    else:
        yield tuple(np.flatnonzero(report).tolist()), source.chance


@pytest.mark.parametrize(("items", "size"), SMALL)
def test_draw_has_exactly_the_law_of_subset_selection(items: int, size: int) -> None:
    """Every way through ``draw`` is taken, and their probabilities added up."""
    oracle = oracle_of(items, size)
    for item in range(items):
        law = dict.fromkeys(subsets(oracle), Fraction(0))
        for kept, share in ((True, oracle.keep), (False, 1 - oracle.keep)):
            for report, chance in outcomes(oracle, item, kept, []):
                law[report] += share * chance
        assert law == {subset: chance_of(oracle, subset, item) for subset in law}
        assert sum(law.values()) == 1


@pytest.mark.parametrize(("items", "size"), SMALL)
def test_the_ratio_is_attained_and_the_estimate_is_unbiased(items: int, size: int) -> None:
    oracle = oracle_of(items, size)
    laws = [{s: chance_of(oracle, s, item) for s in subsets(oracle)} for item in range(items)]
    ratios = {law[s] / other[s] for law in laws for other in laws for s in law}
    assert max(ratios) == oracle.ratio
    # Σ_v f_v = (w − dq)/Δ.
    assert size - items * oracle.chance == oracle.keep - oracle.chance
    for own in range(items):
        for other in range(items):
            share = expectation(oracle, own, {s: Fraction(other in s) for s in subsets(oracle)})
            assert share == (oracle.keep if own == other else oracle.chance)
    tally = np.array([oracle.draw_many(0, 1, Scripted(True, [0] * size))[0] for _ in range(3)]).sum(
        axis=0
    )
    assert oracle.decode(tally, 3).sum() == pytest.approx(3, rel=EXACT)


@pytest.mark.parametrize(("items", "size"), SMALL)
def test_log_likelihoods_are_those_of_the_law_up_to_a_constant(items: int, size: int) -> None:
    oracle = oracle_of(items, size)
    reports = np.array([[i in s for i in range(items)] for s in subsets(oracle)], dtype=np.int64)
    found = [oracle.log_likelihood(reports, item) for item in range(items)]
    exact = [
        [np.log(float(chance_of(oracle, s, item))) for s in subsets(oracle)]
        for item in range(items)
    ]
    gap = np.array(found) - np.array(exact)
    assert np.ptp(gap) < EXACT


@pytest.mark.parametrize(("items", "size"), SMALL)
def test_moments_of_cells_of_every_width(items: int, size: int) -> None:
    oracle = oracle_of(items, size)
    for width in range(1, items):
        cell, other = range(width), range(width, 2 * width)
        found = CellMoments.of(oracle, width)
        first, second = counts(oracle, cell), counts(oracle, other)
        for item in range(items):
            assert expectation(oracle, item, first) == (item in cell)
            square = expectation(oracle, item, {s: f**2 for s, f in first.items()})
            moment = found.inside if item in cell else found.outside
            assert moment == pytest.approx(float(square), rel=EXACT)
            if other.stop <= items:
                product = expectation(oracle, item, {s: f * second[s] for s, f in first.items()})
                moment = found.across if item < other.stop else found.apart
                assert moment == pytest.approx(float(product), rel=EXACT, abs=EXACT)


ROWS = [(5, 1, 2, 1), (5, 2, 2, 1), (7, 3, 2, 2), (7, 2, 3, 1), (7, 4, 3, 2), (4, 1, 3, 1)]
"""Items, size of a report, cells of a row and items of a cell."""


def at(coefficients: tuple[float, ...], theta: Fraction) -> float:
    return float(sum(c * float(theta) ** power for power, c in enumerate(coefficients)))


@pytest.mark.parametrize(("items", "size", "cells", "width"), ROWS)
@pytest.mark.parametrize("theta", [Fraction(0), Fraction(2, 7), Fraction(1, 2), Fraction(1)])
def test_row_laws(items: int, size: int, cells: int, width: int, theta: Fraction) -> None:
    """D = F₁ − θ·ΣF for every item, and over every report."""
    oracle = oracle_of(items, size)
    law: RowLaw = row_law(oracle, cells, width)
    edges = range(0, (cells + 1) * width, width)
    row = [range(start, stop) for start, stop in pairwise(edges)]

    first, *others = (counts(oracle, cell) for cell in row)
    terms = {s: f - theta * (f + sum(other[s] for other in others)) for s, f in first.items()}
    square = {s: term**2 for s, term in terms.items()}
    squares = [expectation(oracle, item, square) for item in range(items)]
    for item in range(cells * width, items):
        assert at(law.outside, theta) == pytest.approx(float(squares[item]), rel=EXACT, abs=EXACT)
    # The first cell has probability θ; how the others share the rest does not matter.
    rest = [Fraction(i) for i in range(1, cells)]
    shares = [theta, *((1 - theta) * part / sum(rest) for part in rest)]
    means = [expectation(oracle, cell.start, terms) for cell in row]
    assert sum(share * mean for share, mean in zip(shares, means, strict=True)) == 0
    visit = sum(share * squares[cell.stop - 1] for share, cell in zip(shares, row, strict=True))
    assert at(law.inside, theta) == pytest.approx(float(visit), rel=EXACT, abs=EXACT)

    outside = items - cells * width
    up, down = at(law.up, theta), at(law.down, theta)
    assert float(max(terms.values())) <= up + EXACT
    assert -float(min(terms.values())) <= down + EXACT
    if outside >= size - min(size, width):
        assert float(max(terms.values())) == pytest.approx(up)
    if outside >= size - min(size, width * (cells - 1)):
        assert -float(min(terms.values())) == pytest.approx(down)


@pytest.mark.parametrize(("items", "size", "cells", "width"), ROWS)
def test_laws_of_the_row_sum(items: int, size: int, cells: int, width: int) -> None:
    oracle = oracle_of(items, size)
    law, row = row_law(oracle, cells, width), range(cells * width)
    sums = counts(oracle, row)
    for item in range(items):
        visit = int(item in row)
        variance = expectation(oracle, item, {s: (f - visit) ** 2 for s, f in sums.items()})
        expected = law.row_inside if visit else law.row_outside
        assert expected == pytest.approx(float(variance), rel=EXACT)
    assert 1 - float(min(sums.values())) <= law.row_down + EXACT


@pytest.mark.parametrize(("items", "size"), SMALL)
def test_error_and_reach_of_a_cell(items: int, size: int) -> None:
    oracle = oracle_of(items, size)
    for width in range(1, items):
        cell = range(width)
        variance, bound = cell_error(oracle, width)
        found = counts(oracle, cell)
        high, low = reach(oracle, width)
        assert high == pytest.approx(float(max(found.values())))
        assert -low <= float(min(found.values())) + EXACT
        for item in range(items):
            errors = {s: f - (item in cell) for s, f in found.items()}
            square = expectation(oracle, item, {s: error**2 for s, error in errors.items()})
            assert float(square) <= variance * (1 + EXACT)
            assert max(abs(float(error)) for error in errors.values()) <= bound + EXACT
