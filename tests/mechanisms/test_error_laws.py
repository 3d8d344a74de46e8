"""Assumption 3 of the paper: c_{k,i} positive, increasing in k, decreasing in δ."""

from __future__ import annotations

from dataclasses import astuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ldprl import NoPrivacy, Shape
from ldprl.mechanisms.error_laws import ErrorLaw, ErrorLaws
from ldprl.shape import FloatArray
from tests.mechanisms.mechanisms import PRIVATE, at_epsilon

EPISODES = np.array([1, 2, 3, 10, 1000, 10**6, 10**8])
FAILURES = np.array([1e-12, 1e-6, 0.01, 0.1, 0.5])
SHAPES = [Shape(1, 1, 1), Shape(2, 2, 2), Shape(3, 1, 2, step_dependent=True)]


def table(law: ErrorLaw) -> FloatArray:
    """Return c_k(δ), a row a k and a column a δ."""
    return law(EPISODES[:, None], FAILURES[None, :])


def each(laws: ErrorLaws) -> tuple[ErrorLaw, ...]:
    return (laws.rewards, laws.visits, laws.departures, laws.transitions)


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("name", PRIVATE)
def test_sound_laws_satisfy_the_assumption(name: str, shape: Shape) -> None:
    for law in each(PRIVATE[name](shape).error_laws):
        values = table(law)
        assert np.all(np.isfinite(values))
        assert np.all(values > 0)
        assert np.all(np.diff(values, axis=0) > 0), "strictly increasing in k"
        assert np.all(np.diff(values, axis=1) < 0), "strictly decreasing in δ"


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("name", PRIVATE)
def test_the_papers_laws_do_up_to_their_floors(name: str, shape: Shape) -> None:
    """Floors make some of them constant at first, and bounded noise starts at 0."""
    for law in each(PRIVATE[name](shape, constants="paper").error_laws):
        values = table(law)
        start = 1 if name == "bounded-noise" else 0
        assert np.all(values[start:] > 0)
        rounding = 1e-12 * values
        assert np.all(np.diff(values, axis=0) >= -rounding[1:])
        assert np.all(np.diff(values, axis=1) <= rounding[:, 1:])
        if name == "bounded-noise":
            assert not values[0].any()


@pytest.mark.parametrize("name", at_epsilon(1.0))
def test_less_privacy_means_less_error(name: str) -> None:
    shape = Shape(2, 2, 2)
    loose, tight = (at_epsilon(epsilon)[name](shape).error_laws for epsilon in (4.0, 0.5))
    for less, more in zip(each(loose), each(tight), strict=True):
        assert np.all(table(less) < table(more))


@settings(max_examples=50, deadline=None)
@given(
    st.tuples(*[st.floats(1, 100)] * 3),
    st.integers(1, 10**6),
    st.floats(1e-9, 0.5),
)
def test_the_closed_form(parameters: tuple[float, float, float], k: int, failure: float) -> None:
    root, linear, power = parameters
    t = np.log(24 / failure)
    law = ErrorLaw(24, root, linear=linear, power=power, floor=2.0, lag=1)
    by_hand = max(2.0, root * np.sqrt((k - 1) * t) + linear * t, power * t**1.5)
    assert float(law(k, failure)) == pytest.approx(by_hand)


def test_the_papers_formulas_at_one_point() -> None:
    """S = A = H = 2, ε = 2, k = 101, δ = 0.1: the propositions' right-hand sides, by hand.

    Those of Laplace noise are on the paper's page, ``ldprl.paper``, which has tests of its own.
    """
    shape, k, delta = Shape(2, 2, 2), 101, 0.1
    few, many = np.log(6 * 4 / delta), np.log(6 * 8 / delta)
    cell, row = np.log(4 * 4 / delta), np.log(4 * 8 / delta)
    sigma = np.sqrt(4 * np.log(24 / 0.1)) * 2 / 2
    odds = np.exp(2 / 12)
    flips = (2 * odds - 1) / (odds - 1) * np.sqrt(100 * 2 / 2)
    first = 3 * 2 / 2 * np.sqrt(4 * np.log(1 / 0.1))
    second = 3 * 2 / 2 * 2 * np.sqrt(2 * np.log(1 / 0.1))
    p = 2 / (np.exp(2 / 2) + 1)
    bits = (np.sqrt(100 * 2 * p * (1 - p / 2) * np.log(10)) + 2 * np.log(10) / 3) / (1 - p)
    row_bits = (np.sqrt(200 * 2 * p * (1 - p / 2) * np.log(10)) + 2 * np.log(10) / 3) / (1 - p)
    by_hand = {
        "gaussian": [sigma * np.sqrt(100 * few)] * 2
        + [sigma * np.sqrt(200 * few), sigma * np.sqrt(100 * few)],
        "randomized-response": [flips * np.sqrt(cell)] * 2
        + [2 * flips * np.sqrt(cell), flips * np.sqrt(row)],
        "bounded-noise": [first * np.sqrt(200 * few)] * 2
        + [second * np.sqrt(400 * many), second * np.sqrt(200 * many)],
        "shuffle": [bits, bits, row_bits, bits],
    }
    for name, expected in by_hand.items():
        laws = PRIVATE[name](shape, constants="paper").error_laws
        found = [float(law(k, delta)) for law in each(laws)]
        assert found == pytest.approx(expected, rel=1e-9), name


def test_no_privacy_has_no_error() -> None:
    for law in each(NoPrivacy(Shape(2, 2, 2)).error_laws):
        assert not table(law).any()
        assert astuple(law)[1:] == (0, 0, 0, 0, 0)
