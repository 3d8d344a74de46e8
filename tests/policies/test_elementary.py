"""Activations of elementary operations: near the functions they stand for, and total."""

from __future__ import annotations

import numpy as np
import pytest

from ldprl.policies.elementary import ACTIVATIONS, relu, softsign, tanh

_RNG = np.random.default_rng(0)
POINTS = np.concatenate(
    [
        np.linspace(-25, 25, 200_001),
        _RNG.normal(size=10_000) * 10.0 ** _RNG.integers(-300, 300, 10_000),
        [5e-324, -5e-324, 0.0, 1.8e308],
    ]
)


def test_tanh_is_tanh() -> None:
    found, true = tanh(POINTS), np.tanh(POINTS)
    assert np.max(np.abs(found - true)) < 1e-15
    small = np.abs(POINTS) > 1e-307  # below are rounding errors of numbers with few digits
    assert np.max(np.abs(found[small] / true[small] - 1)) < 2e-15
    assert np.max(np.abs(found)) == 1.0


def test_tanh_does_not_fall_by_more_than_a_rounding_error() -> None:
    assert np.diff(tanh(np.linspace(-25, 25, 200_001))).min() >= -2.3e-16


@pytest.mark.parametrize("name", ACTIVATIONS)
def test_single_numbers_and_arrays_alike(name: str) -> None:
    activation = ACTIVATIONS[name]
    some = POINTS[::97]
    assert [float(activation(x)) for x in some.tolist()] == activation(some).tolist()


def test_infinities_and_nan() -> None:
    ends = np.array([-np.inf, np.inf])
    assert tanh(ends).tolist() == [-1, 1]
    assert softsign(ends).tolist() == [-1, 1]
    assert relu(ends).tolist() == [0, np.inf]
    assert all(np.isnan(activation(np.nan)) for activation in ACTIVATIONS.values())


def test_softsign_and_relu() -> None:
    assert softsign(np.array([-3.0, 0.0, 1.0])).tolist() == [-0.75, 0.0, 0.5]
    assert relu(np.array([-3.0, 0.0, 1.5])).tolist() == [0.0, 0.0, 1.5]
