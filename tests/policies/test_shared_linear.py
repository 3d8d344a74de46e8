"""One weight vector for all actions."""

from __future__ import annotations

import numpy as np
import pytest

from ldprl.errors import InputError
from ldprl.policies.actions import Level, Levels
from ldprl.policies.shared_linear import SharedLinear
from ldprl.problem import problem_from

FEATURES = [f"action {a}: x{i}" for a in range(3) for i in range(2)]


def problem() -> SharedLinear:
    return SharedLinear(features=FEATURES, actions=["a", "b", "c"], horizon=1, returns=(0, 1))


def test_the_action_of_the_largest_product() -> None:
    assert problem().size == 2
    rng = np.random.default_rng(0)
    weights, seen = rng.normal(size=(50, 2)), rng.normal(size=(50, 6))
    expected = [(each.reshape(3, 2) @ w).argmax() for w, each in zip(weights, seen, strict=True)]
    np.testing.assert_array_equal(problem().act_many(weights, seen), expected)
    one = problem().act_many(weights[:1], seen)
    np.testing.assert_array_equal(one, [(s.reshape(3, 2) @ weights[0]).argmax() for s in seen])


def test_its_document_reads_back() -> None:
    assert problem_from(problem().stated()["policy"]) == problem()


@pytest.mark.parametrize(
    ("features", "actions"),
    [(FEATURES[:5], ["a", "b", "c"]), (FEATURES[:2], Levels((Level("dose", 0, 1),)))],
)
def test_other_sizes_are_refused(features: list[str], actions: object) -> None:
    with pytest.raises(InputError, match="as many features of each"):
        SharedLinear(features=features, actions=actions, horizon=1, returns=(0, 1))  # type: ignore[arg-type]
