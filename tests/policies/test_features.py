"""What a user sees becomes inputs, whatever it is; only another length is refused."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

from ldprl import InputError
from ldprl.policies.features import Feature, Features
from tests.policies.by_hand import FEATURES


def test_numbers_are_scaled_and_categories_become_one_hot() -> None:
    assert (FEATURES.raw, FEATURES.size) == (4, 6)
    assert FEATURES.inputs([180, -0.15, 2, -12.5]).tolist() == [1, -0.5, 0, 0, 1, 0]
    assert FEATURES.inputs([180, -0.15, "small", -12.5]).tolist() == [1, -0.5, 0, 1, 0, 0]
    assert FEATURES.inputs_named[2:5] == ("meal: none", "meal: small", "meal: large")


@pytest.mark.parametrize("odd", [np.nan, np.inf, -np.inf, 10**400, None, "many", [1], 1j])
def test_what_is_no_finite_number_enters_as_zero(odd: Any) -> None:
    assert FEATURES.inputs([odd, 0.3, 0, -12.5]).tolist() == [0, 1, 1, 0, 0, 0]
    assert FEATURES.inputs([120, 0.3, odd, -12.5]).tolist() == [0, 1, 0, 0, 0, 0]


def test_categories_that_are_not_there_and_numbers_that_overflow_enter_as_zeros() -> None:
    for category in (-1, 3, 0.5, 10**30):
        assert FEATURES.inputs([120, 0, category, -12.5]).tolist() == [0] * 6
    assert Features((Feature("x", scale="0.001"),)).inputs([1e308]).tolist() == [0]


def test_one_entry_needs_no_list() -> None:
    one = Features((Feature("place", categories=("home", "work")),))
    for seen in (1, [1], "work", ["work"], np.array(1), np.array([1]), np.int64(1), True):
        assert one.inputs(seen).tolist() == [0, 1]


def test_many_are_as_each() -> None:
    rng = np.random.default_rng(0)
    seen = rng.normal(size=(100, 4)) * 100
    seen[:, 2] = rng.integers(-1, 4, 100)
    seen[::9, 0] = np.nan
    before = seen.copy()
    many = FEATURES.inputs_many(seen)
    assert np.array_equal(many, [FEATURES.inputs(one) for one in seen])
    assert np.array_equal(seen, before, equal_nan=True)


@pytest.mark.parametrize("seen", [[], [1, 2, 3], [1, 2, 3, 4, 5], 7.0, "glucose", None])
def test_another_length_is_refused(seen: Any) -> None:
    with pytest.raises(InputError, match=r"observation = .* entries.*expected 4 entries: glucose"):
        FEATURES.inputs(seen)


def test_there_and_back() -> None:
    assert Features.of(json.loads(json.dumps(FEATURES.document()))) == FEATURES
    assert Features.of(["a", {"name": "b", "scale": 0.5}]).document() == [
        {"name": "a", "centre": "0", "scale": "1"},
        {"name": "b", "centre": "0", "scale": "0.5"},
    ]
    # One number, however it is written.
    assert Feature("x", "", "-0.0", "1e1") == Feature("x", scale=10.000)


@pytest.mark.parametrize(
    ("feature", "field"),
    [
        ({}, "feature.name"),
        ({"name": ""}, "feature.name"),
        ({"name": "a\nb"}, "feature.name"),
        ({"name": "a" * 101}, "feature.name"),
        ({"name": 3}, "feature.name"),
        ({"name": "a", "unit": None}, "feature.unit"),
        ({"name": "a", "centre": "nan"}, "feature.centre"),
        ({"name": "a", "centre": "1e300"}, "feature.centre"),
        ({"name": "a", "centre": "ten"}, "feature.centre"),
        ({"name": "a", "centre": "1" * 10**6}, "feature.centre"),
        ({"name": "a", "scale": "0"}, "feature.scale"),
        ({"name": "a", "scale": -1}, "feature.scale"),
        ({"name": "a", "scale": "1e-300"}, "feature.scale"),
        ({"name": "a", "scale": True}, "feature.scale"),
        ({"name": "a", "categories": []}, "feature.categories"),
        ({"name": "a", "categories": "xy"}, "feature.categories"),
        ({"name": "a", "categories": ["x", "x"]}, "feature.categories"),
        ({"name": "a", "categories": ["x", "y"], "scale": "2"}, "feature"),
        ({"name": "a", "units": "kg"}, "feature key"),
        (["a"], "feature"),
    ],
)
def test_what_is_no_feature_is_refused(feature: Any, field: str) -> None:
    with pytest.raises(InputError) as refused:
        Features.of([feature])
    assert refused.value.field == field
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("features", [[], "ab", None, ["a", "a"], ["a"] * 100_001])
def test_what_are_no_features_is_refused(features: Any) -> None:
    with pytest.raises(InputError, match="features"):
        Features.of(features)
