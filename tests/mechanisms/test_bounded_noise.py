"""Bounded noise: calibration, and the paper's constants."""

from __future__ import annotations

import math

import pytest

from ldprl import (
    BoundedNoise,
    Shape,
)
from ldprl.layout import Layout
from ldprl.mechanisms.bounded_noise import _least_radius, _sound_tables
from ldprl.mechanisms.noise_table import tables_delta
from tests.mechanisms.layouts import LAYOUTS
from tests.mechanisms.users import built


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


@pytest.mark.parametrize("layout", [LAYOUTS[1], LAYOUTS[2], LAYOUTS[5]], ids=str)
@pytest.mark.parametrize(("epsilon", "delta"), [(0.2, 0.1), (1.0, 1e-6), (20.0, 0.1)])
def test_bounded_noise_is_enough_and_no_more(layout: Layout, epsilon: float, delta: float) -> None:
    radius = _least_radius(layout, epsilon, delta)
    assert tables_delta(layout, _sound_tables(layout, radius), epsilon) <= delta
    assert tables_delta(layout, _sound_tables(layout, 0.998 * radius), epsilon) > delta


SHAPE = Shape(2, 2, 2)


def test_bounded_noise_gives_no_privacy_at_twenty() -> None:
    """2R = 1.82 < H: the supports of two users can be disjoint."""
    radius = 3 * 2 / 20 * math.sqrt(4 * math.log(10))
    assert 2 * radius == pytest.approx(1.82, abs=0.005)
    exact, warned = built(lambda: BoundedNoise(SHAPE, 20.0, 0.1, constants="paper"))
    assert exact == 1.0
    assert warned


def test_bounded_noise_at_two() -> None:
    exact, warned = built(lambda: BoundedNoise(SHAPE, 2.0, 0.1, constants="paper"))
    assert 0.27 <= exact < 0.5
    assert warned
