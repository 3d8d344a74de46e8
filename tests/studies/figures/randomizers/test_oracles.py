"""The published formulas, against reports drawn as their authors describe them."""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import product

import numpy as np
import pytest

from ldprl.mechanisms.subset import CellMoments
from ldprl.mechanisms.subset_laws import row_variances
from ldprl.shape import FloatArray, IntArray
from studies.figures.randomizers.oracles import (
    ORACLES,
    _best_field,
    direct,
    geometry,
    hadamard,
    subsets,
    unary,
)
from tests.statistical.checks import TYPE_I, mean_is, together

ITEMS, CELLS, WIDTH, THETA = 9, 2, 2, 0.3
"""A row of two cells of two items each, and five items outside of it."""
DRAWS = 200_000
Draw = Callable[[IntArray, float, np.random.Generator], tuple[FloatArray, float, float]]


def draw_direct(
    own: IntArray, epsilon: float, rng: np.random.Generator
) -> tuple[FloatArray, float, float]:
    odds = math.exp(epsilon)
    p, q = odds / (odds + ITEMS - 1), 1 / (odds + ITEMS - 1)
    other = (own + rng.integers(1, ITEMS, len(own))) % ITEMS
    reports = np.where(rng.random(len(own)) < p, own, other)
    return (reports[:, None] == np.arange(ITEMS)).astype(float), p, q


def draw_unary(
    own: IntArray, epsilon: float, rng: np.random.Generator
) -> tuple[FloatArray, float, float]:
    p, q = 0.5, 1 / (math.exp(epsilon) + 1)
    chances = np.where(own[:, None] == np.arange(ITEMS), p, q)
    return (rng.random(chances.shape) < chances).astype(float), p, q


def draw_hadamard(
    own: IntArray, epsilon: float, rng: np.random.Generator
) -> tuple[FloatArray, float, float]:
    """A column in which the own row is +1 with probability p; rows are dealt for each user."""
    columns, p = 16, math.exp(epsilon) / (math.exp(epsilon) + 1)
    rows = rng.permuted(np.tile(np.arange(1, columns), (len(own), 1)), axis=1)[:, :ITEMS]
    mine = rows[np.arange(len(own)), own]
    column = rng.integers(columns, size=len(own))
    wanted = rng.random(len(own)) < p
    # Flipping one bit that the row has turns +1 into −1, and keeps the column uniform.
    column = np.where(_plus(mine, column) == wanted, column, column ^ (mine & -mine))
    return _plus(rows, column[:, None]).astype(float), p, 0.5


def _plus(row: IntArray, column: IntArray) -> IntArray:
    even: IntArray = np.bitwise_count(row & column) % 2 == 0
    return even


def draw_geometry(
    own: IntArray, epsilon: float, rng: np.random.Generator
) -> tuple[FloatArray, float, float]:
    """A point, e^ε times as likely on the own hyperplane; hyperplanes are dealt for each user."""
    field, dimension = _best_field(ITEMS, epsilon)
    vectors = [
        v
        for v in product(range(field), repeat=dimension)
        if next((x for x in v if x), 0) == 1  # one of each line through the origin
    ]
    on = np.array(vectors) @ np.array(vectors).T % field == 0
    weights = np.where(on, math.exp(epsilon), 1.0)
    chances = weights / weights.sum(axis=1, keepdims=True)
    planes = rng.permuted(np.tile(np.arange(len(on)), (len(own), 1)), axis=1)[:, :ITEMS]
    mine = planes[np.arange(len(own)), own]
    point = (np.cumsum(chances, axis=1)[mine] < rng.random((len(own), 1))).sum(axis=1)
    reports = on[planes, point[:, None]].astype(float)
    return reports, float((chances * on).sum(axis=1)[0]), float((chances @ on.T)[0, 1])


def squares(draw: Draw, epsilon: float, *, inside: bool) -> tuple[FloatArray, FloatArray]:
    """Return decoded counts f and D² of as many users, in the row or out of it."""
    rng = np.random.default_rng(7)
    own = np.full(DRAWS, ITEMS - 1)
    if inside:
        own = np.where(rng.random(DRAWS) < THETA, 1, WIDTH)
    reports, p, q = draw(own, epsilon, rng)
    counts = (reports - q) / (p - q)
    weights = np.zeros(ITEMS)
    weights[: CELLS * WIDTH] = -THETA
    weights[:WIDTH] += 1
    return counts, (counts @ weights) ** 2


def pvalue(draw: Draw, moments: CellMoments, epsilon: float) -> float:
    outside, inside = (c[0] + c[1] * THETA + c[2] * THETA**2 for c in row_variances(moments, CELLS))
    counts, away = squares(draw, epsilon, inside=False)
    _, there = squares(draw, epsilon, inside=True)
    truth = np.eye(ITEMS)[ITEMS - 1]
    return together([mean_is(counts, truth), mean_is(away, outside), mean_is(there, inside)])


CASES: list[tuple[Draw, Callable[[int, float, int], CellMoments]]] = [
    (draw_direct, direct),
    (draw_unary, unary),
    (draw_hadamard, hadamard),
    (draw_geometry, geometry),
]


@pytest.mark.parametrize("epsilon", [0.7, 2.5])
@pytest.mark.parametrize(("draw", "formula"), CASES)
def test_moments_are_those_of_drawn_reports(
    draw: Draw, formula: Callable[[int, float, int], CellMoments], epsilon: float
) -> None:
    """Counts are unbiased and E D² is as stated; type-I error 10⁻⁶ (normal, 200,000 draws)."""
    assert pvalue(draw, formula(ITEMS, epsilon, WIDTH), epsilon) > TYPE_I


@pytest.mark.parametrize(("draw", "formula"), CASES)
def test_another_oracles_moments_would_be_noticed(
    draw: Draw, formula: Callable[[int, float, int], CellMoments]
) -> None:
    """The mutants: 3% more ε, and what the items of a report have to do with each other left out.

    For unary encoding, whose bits are independent, the second is no mutant.
    """
    assert pvalue(draw, formula(ITEMS, 0.7 * 1.03, WIDTH), 0.7) < TYPE_I
    single = formula(ITEMS, 2.5, 1)
    apart = CellMoments(WIDTH * single.outside, single.inside + single.outside, 0.0, 0.0)
    assert (pvalue(draw, apart, 2.5) < TYPE_I) == (draw is not draw_unary)


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 4.0])
@pytest.mark.parametrize("items", [5, 101])
def test_published_variances(items: int, epsilon: float) -> None:
    odds = math.exp(epsilon)
    assert direct(items, epsilon).outside == pytest.approx((odds + items - 2) / (odds - 1) ** 2)
    assert unary(items, epsilon).outside == pytest.approx(4 * odds / (odds - 1) ** 2)
    assert hadamard(items, epsilon).outside == pytest.approx(((odds + 1) / (odds - 1)) ** 2)


@pytest.mark.parametrize("epsilon", [0.1, 0.5, 1.0, 2.0, 4.0, 8.0])
@pytest.mark.parametrize("items", [5, 10, 51, 201, 901])
def test_no_oracle_has_less_variance_than_subset_selection(items: int, epsilon: float) -> None:
    """Of single items, the mean over own and others, which is what Ye and Barg prove about."""

    def total(moments: CellMoments) -> float:
        return (items - 1) * moments.outside + moments.inside - 1

    ours = total(subsets(items, epsilon))
    for oracle in ORACLES:
        assert total(oracle.moments(items, epsilon, 1)) >= ours * (1 - 1e-9)


def test_a_geometry_has_enough_points_and_the_size_that_it_says() -> None:
    bits = {oracle.name: oracle.bits for oracle in ORACLES}
    for items, epsilon in product((3, 9, 100, 901), (0.2, 2.0, 8.0)):
        field, dimension = _best_field(items, epsilon)
        points = sum(field**i for i in range(dimension))
        assert points >= items
        assert bits["projective geometry"](items, epsilon) == pytest.approx(math.log2(points))
    assert bits["Hadamard response"](7, 1.0) == 3
    assert bits["Hadamard response"](8, 1.0) == 4
    assert bits["subset selection"](5, 0.2) == pytest.approx(math.log2(10))
