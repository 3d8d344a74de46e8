"""Noise that is just enough: the concentrated pair is the worst, and no less noise would do."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from ldprl import BoundedNoise, Gaussian, InputError, Shape
from ldprl.accounting.loss import delta_at, shifted_pair
from ldprl.mechanisms.bounded_noise import _least_radius, _sound_tables
from ldprl.mechanisms.layout import Layout
from ldprl.mechanisms.sensitivity import Block
from ldprl.mechanisms.table import NoiseTable, tables_delta
from ldprl.shape import IntArray
from tests.mechanisms.trajectories import differences

LAYOUTS = [
    Layout(Shape(2, 2, 2)),
    Layout(Shape(2, 2, 2), squares=True),
    Layout(Shape(2, 1, 3), resolution=2),
    Layout(Shape(1, 1, 3)),
    Layout(Shape(2, 1, 3, step_dependent=True)),
    Layout(Shape(1, 2, 2, step_dependent=True), squares=True),
]
Tables = dict[Block, NoiseTable]


def gaussian_tables(layout: Layout, variance: float) -> Tables:
    def table(unit: int) -> NoiseTable:
        reach = math.ceil(9 * unit * math.sqrt(variance)) + 1
        points = np.arange(-reach, reach + 1, dtype=np.float64)
        return NoiseTable(np.exp(-(points**2) / (2 * variance * unit**2)))

    noise = table(1)
    return {"rewards": table(layout.resolution or 1), "visits": noise, "transitions": noise}


def delta_of_gap(layout: Layout, tables: Tables, gap: IntArray, epsilon: float) -> float:
    """Return δ(ε) of two users whose counters differ by ``gap``."""
    rewards, visits, transitions, squares = layout.blocks(gap)
    blocks: list[tuple[Block, IntArray]] = [("visits", visits), ("transitions", transitions)]
    blocks += [("rewards", block) for block in (rewards, squares) if block is not None]
    pairs = []
    for name, block in blocks:
        sizes, counters = np.unique(block[block > 0], return_counts=True)
        for size, copies in zip(sizes.tolist(), counters.tolist(), strict=True):
            pairs.append(shifted_pair(tables[name].pmf, size, copies))
    return delta_at(pairs, epsilon) if pairs else 0.0


def patterns(layout: Layout) -> list[IntArray]:
    """Return one gap for each different set of shifts; which counters they hit is all the same."""
    found = {}
    for gap in differences(layout):
        rewards, visits, transitions, squares = layout.blocks(gap)
        reward_shifts = np.concatenate(
            [rewards.ravel(), *([] if squares is None else [squares.ravel()])]
        )
        key = tuple(
            np.sort(part.ravel()).tobytes() for part in (reward_shifts, visits, transitions)
        )
        found[key] = gap
    return list(found.values())


def check_worst_pair(layout: Layout, tables: Tables, epsilon: float) -> None:
    worst = max(delta_of_gap(layout, tables, gap, epsilon) for gap in patterns(layout))
    assert worst == pytest.approx(tables_delta(layout, tables, epsilon), abs=1e-9)


@pytest.mark.parametrize("layout", [LAYOUTS[0], LAYOUTS[3], LAYOUTS[5]], ids=str)
def test_no_pair_of_users_is_worse_than_the_concentrated_one(layout: Layout) -> None:
    check_worst_pair(layout, gaussian_tables(layout, 3.0), 2.0)
    check_worst_pair(layout, _sound_tables(layout, 7.5), 2.0)


@pytest.mark.slow
@pytest.mark.parametrize("layout", LAYOUTS, ids=str)
@pytest.mark.parametrize("epsilon", [0.2, 2.0, 8.0])
def test_no_pair_is_worse_whatever_the_noise(layout: Layout, epsilon: float) -> None:
    enough = Gaussian(layout.shape, epsilon, 0.1, squares=layout.squares).sigma ** 2
    for variance in (0.5, enough):
        check_worst_pair(layout, gaussian_tables(layout, variance), epsilon)
    for radius in (4.5, _least_radius(layout, epsilon, 0.1)):
        check_worst_pair(layout, _sound_tables(layout, radius), epsilon)


def test_the_concentrated_pair_need_not_be_the_worst_without_log_concavity() -> None:
    """Noise on even numbers hides a shift of 2 and no shift of 1: the proof's condition counts."""
    layout = Layout(Shape(2, 1, 2))
    table = NoiseTable(np.array([1, 0, 4, 0, 6, 0, 6, 0, 6, 0, 4, 0, 1]))
    tables: Tables = {"rewards": table, "visits": table, "transitions": NoiseTable(np.ones(99))}
    assert not table.is_log_concave()
    assert tables_delta(layout, tables, 1.0) < 0.9
    assert max(delta_of_gap(layout, tables, gap, 1.0) for gap in patterns(layout)) == 1.0


@pytest.mark.parametrize(
    ("epsilon", "delta", "resolution"),
    [(20.0, 0.1, 1), (20.0, 1e-9, 4), (2.0, 0.5, 4), (0.2, 1e-6, 1), (0.05, 1e-6, 4)],
)
def test_bounded_noise_tables_are_exactly_log_concave(
    epsilon: float, delta: float, resolution: int
) -> None:
    mechanism = BoundedNoise(Shape(2, 2, 2), epsilon, delta, resolution=resolution)
    for table in mechanism.tables.values():
        weights = [int(weight) for weight in table.weights]
        assert weights == weights[::-1]
        assert all(
            b * b >= a * c for a, b, c in zip(weights, weights[1:], weights[2:], strict=False)
        )
        assert 0 < sum(weights) == int(table.weights.sum()) < 2**63
        assert table.pmf.min() > 0


def test_noise_too_wide_for_exact_weights_is_refused() -> None:
    with pytest.raises(InputError, match="epsilon"):
        BoundedNoise(Shape(2, 2, 20), 0.01, 1e-6)


@pytest.mark.parametrize("layout", [LAYOUTS[1], LAYOUTS[2], LAYOUTS[5]], ids=str)
@pytest.mark.parametrize(("epsilon", "delta"), [(0.2, 0.1), (1.0, 1e-6), (20.0, 0.1)])
def test_gaussian_noise_is_enough_and_no_more(layout: Layout, epsilon: float, delta: float) -> None:
    mechanism = Gaussian(
        layout.shape, epsilon, delta, squares=layout.squares, resolution=layout.resolution or 1
    )
    variance = float(mechanism.variance)
    assert tables_delta(layout, gaussian_tables(layout, variance), epsilon) <= delta
    assert tables_delta(layout, gaussian_tables(layout, 0.998**2 * variance), epsilon) > delta


@pytest.mark.parametrize("layout", [LAYOUTS[1], LAYOUTS[2], LAYOUTS[5]], ids=str)
@pytest.mark.parametrize(("epsilon", "delta"), [(0.2, 0.1), (1.0, 1e-6), (20.0, 0.1)])
def test_bounded_noise_is_enough_and_no_more(layout: Layout, epsilon: float, delta: float) -> None:
    radius = _least_radius(layout, epsilon, delta)
    assert tables_delta(layout, _sound_tables(layout, radius), epsilon) <= delta
    assert tables_delta(layout, _sound_tables(layout, 0.998 * radius), epsilon) > delta


def test_gaussian_noise_is_near_the_analytic_gaussians() -> None:
    """σ = 9.75, 3.11 and 0.80 at ε = 0.2, 2, 20 (S = A = H = 2, δ = 0.1)."""
    for epsilon, sigma in ((0.2, 9.75), (2.0, 3.11), (20.0, 0.80)):
        assert Gaussian(Shape(2, 2, 2), epsilon, 0.1).sigma == pytest.approx(sigma, rel=2e-3)


def test_a_delta_that_cannot_be_computed_is_refused() -> None:
    with pytest.raises(InputError, match="delta"):
        Gaussian(Shape(2, 2, 2), 1.0, 1e-13)
    with pytest.raises(InputError, match="delta"):
        BoundedNoise(Shape(2, 2, 2), 1.0, 1e-10)
    assert Gaussian(Shape(2, 2, 2), 1.0, 1e-12).variance > Fraction(27**2)
