"""Gaussian noise: calibration, and the paper's constants."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest

from ldprl import (
    BoundedNoise,
    Gaussian,
    InputError,
    Shape,
)
from ldprl.accounting.loss import gaussian_delta
from ldprl.layout import Layout
from ldprl.mechanisms.gaussian import _on_grid
from ldprl.mechanisms.noise_table import NoiseTable, tables_delta
from ldprl.mechanisms.sensitivity import Block
from tests.mechanisms.layouts import LAYOUTS
from tests.mechanisms.users import built, gaussian_tables

Tables = dict[Block, NoiseTable]


@pytest.mark.parametrize("layout", [LAYOUTS[1], LAYOUTS[2], LAYOUTS[5]], ids=str)
@pytest.mark.parametrize(("epsilon", "delta"), [(0.2, 0.1), (1.0, 1e-6), (20.0, 0.1)])
def test_gaussian_noise_is_enough_and_no_more(layout: Layout, epsilon: float, delta: float) -> None:
    mechanism = Gaussian(
        layout.shape, epsilon, delta, squares=layout.squares, resolution=layout.resolution or 1
    )
    variance = float(mechanism.variance)
    assert tables_delta(layout, gaussian_tables(layout, variance), epsilon) <= delta
    assert tables_delta(layout, gaussian_tables(layout, 0.998**2 * variance), epsilon) > delta


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


SHAPE = Shape(2, 2, 2)


@pytest.mark.parametrize(
    ("epsilon", "delta"), [(0.2, 0.0005), (2.0, 0.011), (5.0, 0.079), (20.0, 0.986)]
)
def test_gaussian_delta_at_the_claimed_epsilon(epsilon: float, delta: float) -> None:
    """σ = cH/ε with c² = 4 ln(24/δ₀) at δ₀ = 0.1 against a distance √(4H² + 2(H−1)²) = √18."""
    sigma = math.sqrt(4 * math.log(240)) * 2 / epsilon
    exact, _ = built(lambda: Gaussian(SHAPE, epsilon, 0.1, constants="paper"))
    assert exact == pytest.approx(gaussian_delta(math.sqrt(18) / sigma, epsilon), rel=1e-12)
    assert exact == pytest.approx(delta, rel=0.05)


def test_a_variance_is_rounded_up() -> None:
    """Never down: noise on the grid is no less than what was asked for."""
    for sigma in (0.3, 1.0, 1.7, 12.345, 1e4 / 3):
        asked, found = Fraction(sigma**2), _on_grid(sigma)
        assert asked <= found <= asked * (1 + Fraction(1, 2**11))
