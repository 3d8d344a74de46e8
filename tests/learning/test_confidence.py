"""The time-uniform boundary and the intervals made of it."""

from __future__ import annotations

import math
from typing import Any

import numba
import numpy as np
import pytest
from scipy.special import logsumexp

from ldprl import Laplace, NoPrivacy, Shape, SubsetSelection
from ldprl.kernels.compiling import entry
from ldprl.learning import confidence
from ldprl.learning.confidence import boundary, growth_room, mixture_rates, row_set
from ldprl.mechanisms.row_laws import RowLaw
from ldprl.shape import FloatArray
from tests.statistical.checks import TYPE_I, at_most

SHAPE = Shape(3, 2, 2)
LAWS: dict[str, RowLaw] = {
    "subset": SubsetSelection(SHAPE, 1.0).row_laws.transitions,
    "joint": SubsetSelection(SHAPE, 3.0, layout="joint").row_laws.rewards,
    "laplace": Laplace(SHAPE, 2.0).row_laws.rewards,
    "none": NoPrivacy(SHAPE).row_laws.transitions,
}
THRESHOLD = math.log(1 / 0.01)
jit: Any = numba.njit


@jit
def _visit_bound(
    visits: float, reports: float, law: FloatArray, threshold: float, rates: FloatArray,
    growth: FloatArray,
) -> float:  # fmt: skip
    return confidence.visit_bound(visits, reports, law, threshold, rates, growth)


def visit_bound(
    visits: float, reports: float, law: FloatArray, threshold: float, rates: FloatArray
) -> float:
    return float(_visit_bound(visits, reports, law, threshold, rates, growth_room()))


@entry
def intervals(
    values: FloatArray, visits: FloatArray, reports: FloatArray, law: FloatArray,
    threshold: float, rates: FloatArray, growth: FloatArray, low: FloatArray, high: FloatArray,
) -> None:  # fmt: skip
    for i in range(visits.size):
        row_set(values[i], visits[i], reports[i], law, threshold, rates, growth, low[i], high[i])


def sets(
    values: FloatArray, visits: FloatArray, reports: FloatArray, law: FloatArray,
    rates: FloatArray,
) -> tuple[FloatArray, FloatArray]:  # fmt: skip
    """Return lower and upper bounds of every parameter; ``values`` has a row for each row."""
    low, high = np.empty_like(values), np.empty_like(values)
    intervals(values, visits, reports, law, THRESHOLD, rates, growth_room(), low, high)
    return low, high


def interval(
    value: float, visits: float, reports: float, law: FloatArray, rates: FloatArray
) -> tuple[float, float]:
    low, high = sets(np.array([[value]]), np.array([visits]), np.array([reports]), law, rates)
    return float(low[0, 0]), float(high[0, 0])


def costs(rates: FloatArray, variance: float, reach: float, tail: float) -> FloatArray:
    """ψ(λ)·V by hand: that of bounded terms, or sub-gamma."""
    if tail:
        result: FloatArray = rates**2 / (2 * (1 - tail * rates)) * variance
    else:
        result = (np.expm1(rates * reach) - rates * reach) / reach**2 * variance
    return result


@pytest.mark.parametrize("name", LAWS)
@pytest.mark.parametrize("variance", [0.0, 1.0, 1e4, 1e12])
@pytest.mark.parametrize("log_threshold", [0.1, 5.0, 40.0])
def test_the_boundary_is_the_root_of_its_equation(
    name: str, variance: float, log_threshold: float
) -> None:
    """Never below the root, so that stopping early is on the safe side, by 2e-4 of it at most."""
    law, rates = LAWS[name], mixture_rates(LAWS[name])
    found = boundary(variance, law.up[0], law.tail, log_threshold, rates)

    def excess(s: float) -> float:
        exponents = rates * s - costs(rates, variance, law.up[0], law.tail)
        return float(logsumexp(exponents)) - math.log(len(rates)) - log_threshold

    assert excess(found * (1 + 1e-9)) >= 0
    assert excess(found * (1 - 2e-4)) < 0


@pytest.mark.parametrize("name", LAWS)
def test_the_boundary_grows_with_variance_reach_and_confidence(name: str) -> None:
    law, rates = LAWS[name], mixture_rates(LAWS[name])
    reach = law.up[0]
    by_variance = [
        boundary(v, reach, law.tail, THRESHOLD, rates) for v in np.geomspace(1, 1e10, 40)
    ]
    assert np.all(np.diff(by_variance) > 0)
    by_threshold = [boundary(1e4, reach, law.tail, t, rates) for t in np.linspace(1, 30, 30)]
    assert np.all(np.diff(by_threshold) > 0)
    if not law.tail:
        by_reach = [
            boundary(1e4, share * reach, 0.0, THRESHOLD, rates) for share in np.linspace(0.1, 1, 10)
        ]
        assert np.all(np.diff(by_reach) > 0)


def test_the_boundary_is_about_five_standard_deviations() -> None:
    """At α = 1e-4: between the fixed-time bound and what stitching would give."""
    law = LAWS["subset"]
    found = boundary(1e9, law.up[0], 0.0, math.log(1e4), mixture_rates(law)) / math.sqrt(1e9)
    assert math.sqrt(2 * math.log(1e4)) < found < 5.6


ALPHA, PATHS, STEPS = 0.05, 1500, 1500


def crossings(
    terms: FloatArray, variance: FloatArray, reach: float, tail: float, rates: FloatArray
) -> int:
    """Count the paths whose sum exceeds the boundary at some step."""
    limits = [boundary(v, reach, tail, math.log(1 / ALPHA), rates) for v in np.cumsum(variance)]
    return int((np.cumsum(terms, axis=1) > limits).any(axis=1).sum())


def skewed(rng: np.random.Generator) -> tuple[FloatArray, FloatArray, float, float]:
    """Terms that are 3 now and then, else a little below 0, under weights known beforehand."""
    rare = 0.05
    weights = 0.2 + 0.8 * (np.arange(STEPS) % 3 == 0)
    hit = rng.random((PATHS, STEPS)) < rare
    terms = np.where(hit, 3.0, -3.0 * rare / (1 - rare))
    return terms * weights, weights**2 * 9 * rare / (1 - rare), 3.0, 0.0


def double_exponential(rng: np.random.Generator) -> tuple[FloatArray, FloatArray, float, float]:
    terms = rng.laplace(scale=2.0, size=(PATHS, STEPS))
    return terms, np.full(STEPS, 8.0), 1.0, 2.0


@pytest.mark.parametrize("draw", [skewed, double_exponential])
def test_a_martingale_crosses_at_some_time_with_probability_alpha_at_most(draw: object) -> None:
    """Binomial test at type-I error 1e-6; a boundary for a quarter of the variance is rejected."""
    assert callable(draw)
    terms, variance, reach, tail = draw(np.random.default_rng(0))
    fastest = 0.9 / tail if tail else 20 / reach
    rates = fastest * 1.6 ** -np.arange(36.0)
    crossed = crossings(terms, variance, reach, tail, rates)
    assert at_most(crossed, PATHS, ALPHA) > TYPE_I
    mutant = crossings(terms, variance / 4, reach / 2, tail / 2, rates)
    assert at_most(mutant, PATHS, ALPHA) < TYPE_I


@pytest.mark.parametrize("name", LAWS)
def test_rates_are_fixed_by_the_law(name: str) -> None:
    law, rates = LAWS[name], mixture_rates(LAWS[name])
    assert len(rates) == 36
    assert np.all(rates > 0)
    np.testing.assert_allclose(rates[:-1] / rates[1:], 1.6)
    assert law.tail * rates[0] < 1


def quadratic(coefficients: tuple[float, ...], theta: float) -> float:
    return sum(c * theta**power for power, c in enumerate(coefficients))


@pytest.mark.parametrize("name", LAWS)
def test_no_plausible_value_is_left_out(name: str) -> None:
    """Every θ that the boundary at θ itself allows is in the interval."""
    law, rates = LAWS[name], mixture_rates(LAWS[name])
    numbers = law.numbers()
    rng = np.random.default_rng(1)
    narrowed = 0
    for _ in range(60):
        reports = 10 ** rng.uniform(0, 7)
        visits = reports * rng.uniform(0.01, 1)
        value = visits * rng.uniform(-0.2, 1.2)
        visited = visit_bound(visits, reports, numbers, THRESHOLD, rates)
        low, high = interval(value, visits, reports, numbers, rates)
        assert 0 <= low <= high <= 1
        narrowed += high - low < 0.5
        for theta in np.linspace(0, 1, 51):
            outside = quadratic(law.outside, theta)
            extra = max(quadratic(law.inside, theta) - outside, 0.0)
            variance = reports * max(outside, 0.0) + visited * extra
            above, below = (
                boundary(variance, quadratic(side, theta), law.tail, THRESHOLD, rates)
                for side in (law.up, law.down)
            )
            if -below <= value - theta * visits <= above:
                assert low - 1e-9 <= theta <= high + 1e-9
    assert narrowed > 10


def test_without_visits_nothing_is_known() -> None:
    law, rates = LAWS["subset"], mixture_rates(LAWS["subset"])
    for visits, reports in ((0.0, 10.0), (-5.0, 10.0), (3.0, 0.0)):
        assert interval(1.0, visits, reports, law.numbers(), rates) == (0.0, 1.0)


def test_where_nothing_is_plausible_the_nearest_point_is_kept() -> None:
    law, rates = LAWS["none"], mixture_rates(LAWS["none"])
    for value, nearest in ((3e6, 1.0), (-3e6, 0.0)):
        found = interval(value, 1e6, 1e6, law.numbers(), rates)
        assert found == (nearest, nearest)


def test_visits_are_bounded_from_above() -> None:
    """Without noise by about the visits themselves, and never by more than users can make."""
    for law in LAWS.values():
        rates, numbers = mixture_rates(law), law.numbers()
        for visits in (-1e5, 0.0, 1e3, 1e9):
            bound = visit_bound(visits, 1e4, numbers, THRESHOLD, rates)
            assert max(visits, 0.0) <= bound or bound == law.most_visits * 1e4
            assert 0 <= bound <= law.most_visits * 1e4
    law = LAWS["none"]
    assert visit_bound(5e3, 1e4, law.numbers(), THRESHOLD, mixture_rates(law)) < 5020


def test_sets_are_made_row_by_row() -> None:
    law, rates = LAWS["subset"], mixture_rates(LAWS["subset"])
    numbers = law.numbers()
    rng = np.random.default_rng(2)
    moves = rng.uniform(0, 3e4, (4, 3))
    reports = np.array([1e5, 1e4, 1e3, 0.0])
    low, high = sets(moves, moves.sum(axis=1), reports, numbers, rates)
    for row in range(4):
        visits = moves[row].sum()
        for state in range(3):
            assert (low[row, state], high[row, state]) == interval(
                moves[row, state], visits, reports[row], numbers, rates
            )


def test_with_two_states_both_transitions_are_one_martingale() -> None:
    """p(s₁) ≥ x says the same as p(s₂) ≤ 1 − x: the union bound need not count both."""
    for mechanism in (SubsetSelection(Shape(2, 2, 2), 1.0), Laplace(Shape(2, 2, 2), 1.0)):
        law = mechanism.row_laws.transitions
        rates = mixture_rates(law)
        moves = np.array([[9e5, 4e5], [1e5, 2e5]])
        low, high = sets(moves, moves.sum(axis=1), np.full(2, 3e6), law.numbers(), rates)
        np.testing.assert_allclose(low[:, 0], 1 - high[:, 1], atol=1e-9)
        np.testing.assert_allclose(high[:, 0], 1 - low[:, 1], atol=1e-9)
        assert (high - low < 0.9).all()
