"""Laplace noise: exact privacy loss of a trajectory, in whole numbers."""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ldprl import Assignment, Laplace, Shape
from ldprl.layout import Layout
from ldprl.shape import IntArray
from tests.mechanisms.users import EPSILONS, EXAMPLES, SHAPES, counters, worst_pair


def laplace_loss(mechanism: Laplace, one: IntArray, other: IntArray) -> Fraction:
    units = mechanism.layout.units()
    gaps = np.abs(one - other)
    return (
        sum(
            (Fraction(gap, unit) for gap, unit in zip(gaps.tolist(), units.tolist(), strict=True)),
            start=Fraction(0),
        )
        / mechanism.scale
    )


@EXAMPLES
@given(st.data(), SHAPES, EPSILONS, st.booleans(), st.sampled_from([1, 4]))
def test_laplace(
    data: st.DataObject, shape: Shape, epsilon: float, squares: bool, resolution: int
) -> None:
    mechanism = Laplace(shape, epsilon, squares=squares, resolution=resolution)
    one, other = data.draw(counters(mechanism.layout)), data.draw(counters(mechanism.layout))
    limit = Fraction(repr(epsilon))
    assert laplace_loss(mechanism, one, other) <= limit
    assert laplace_loss(mechanism, *worst_pair(mechanism.layout)) == limit
    assert mechanism.guarantee.epsilon == epsilon
    assert mechanism.guarantee.delta == 0


@EXAMPLES
@given(st.data(), SHAPES, EPSILONS, st.booleans())
def test_the_papers_laplace_scale_is_enough_too(
    data: st.DataObject, shape: Shape, epsilon: float, squares: bool
) -> None:
    mechanism = Laplace(shape, epsilon, constants="paper", squares=squares)
    layout = Layout(shape, squares)
    one, other = data.draw(counters(layout)), data.draw(counters(layout))
    assert laplace_loss(mechanism, one, other) <= Fraction(repr(epsilon))


def test_a_report_reaches_as_far_as_its_range_allows() -> None:
    """The most of |N(s') − θ·Σ N| over all that the counters may be, found at its corners."""
    shape = Shape(3, 2, 4)
    mechanism = Laplace(shape, 1.0)
    most = shape.horizon - 1 + mechanism.noise_reach
    corners = np.array(list(itertools.product((-mechanism.noise_reach, most), repeat=3)))
    policy = Assignment(np.zeros((4, 3), dtype=np.int64))
    for theta in (0.0, 0.3, 0.5, 0.9):
        moves = np.full((1, 3, 2, 3), theta)
        _, reach = mechanism.reach(policy, np.zeros((1, 3, 2)), moves)
        assert reach == pytest.approx(np.abs(corners[:, 0] - theta * corners.sum(axis=1)).max())
