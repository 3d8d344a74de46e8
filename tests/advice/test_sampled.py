"""How many users a policy takes: the formula, and what a simulation says."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from ldprl import Contexts, InputError
from ldprl.advice.sampled import advise_sampled

SEEN = np.random.default_rng(0).normal(size=(50, 2))
DATA = Contexts(SEEN, np.column_stack([SEEN[:, 0] > 0, SEEN[:, 0] <= 0]).astype(float))


def test_formula_and_simulation_belong_together() -> None:
    found = advise_sampled(DATA, "linear", 2.0, users=4000, runs=3, target_loss=0.3)
    assert found.parameters == 6
    assert found.variance == pytest.approx(0.25 / math.tanh(1) ** 2)
    assert found.goal == 1.0
    assert found.gap == pytest.approx(1 - found.private.start_return)
    assert found.by_formula == pytest.approx(36 * found.variance / found.gap**2)
    enough = 1 - 0.3 * (1 - found.private.start_return)
    for run, users in enumerate(found.needed):
        later = found.private.looks >= users
        assert (found.private.worth[run, later] >= enough).all()
        if 0 < users < math.inf:
            assert found.private.worth[run, ~later][-1] < enough


def test_more_users_are_simulated_until_they_are_enough() -> None:
    found = advise_sampled(DATA, "linear", 2.0, runs=3, target_loss=0.3)
    assert 4 * np.median(found.needed) <= found.private.users[-1]
    assert found.document()["users_needed"] == np.median(found.needed)


def test_where_the_best_is_not_known_the_goal_is_what_is_learnt_without_privacy() -> None:
    found = advise_sampled("MountainCar-v0", "linear", 1.0, users=300, horizon=5, runs=2)
    assert found.goal == found.free.final_return.mean() == -5
    assert (found.gap, found.by_formula, found.document()["formula"]["users"]) == (
        0,
        math.inf,
        None,
    )


@pytest.mark.parametrize(
    ("given", "field"),
    [
        ({"epsilon": 0.0}, "epsilon"),
        ({"target_loss": 1.0}, "target_loss"),
        ({"runs": 0}, "runs"),
        ({"users": 0}, "users"),
        ({"policy": "table"}, "policy"),
    ],
)
def test_bad_input_is_refused(given: dict[str, Any], field: str) -> None:
    good: dict[str, Any] = {"env": DATA, "policy": "linear", "epsilon": 1.0, "runs": 1}
    with pytest.raises(InputError) as caught:
        advise_sampled(**good | given)
    assert caught.value.field == field
