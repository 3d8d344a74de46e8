"""``ldprl.learn``: a few lines from an environment to a policy."""

from __future__ import annotations

import math
import sys
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import ldprl
from ldprl import Contexts, InputError, Rollouts, learn

SEEN = np.random.default_rng(0).normal(size=(50, 2))
REWARDS = np.column_stack([SEEN[:, 0] > 0, SEEN[:, 0] <= 0]).astype(float)
DATA = Contexts(SEEN, REWARDS)


def small(**more: Any) -> Rollouts:
    return learn(DATA, **{"users": 2000, "epsilon": 2.0, "runs": 3} | more)


def test_a_policy_from_an_id_in_one_line() -> None:
    result = learn("CartPole-v1", policy="linear", epsilon=2, users=1500, horizon=60)
    assert result.name == "CartPole-v1"
    assert result.best == 60
    assert result.final_return > 45
    assert result.policy((0, 0, 0.2, 0.5)) == 1  # the pole falls to the right
    assert result.policy((0, 0, -0.2, -0.5)) == 0
    assert result.unscaled == ("cart velocity", "pole angular velocity")
    told = str(result).split("\n")[-1]
    assert told.startswith("without bounds: cart velocity, pole angular velocity;")
    assert told.endswith("scale=(4.8, 1, 0.41887903, 1)")


def test_figures_belong_together() -> None:
    result = small()
    assert result.worth.shape == (3, len(result.looks))
    assert result.earned.shape == (3, len(result.users))
    assert len(result.policies) == 3
    np.testing.assert_array_equal(result.final_return, result.worth[:, -1])
    assert result.regret == pytest.approx(2000 * (1 - result.mean_return))
    gap = 1 - result.start_return
    assert result.learned == pytest.approx((result.final_return - result.start_return) / gap)
    users, worth = result.curve
    assert (users[0], users[-1]) == (0, 2000)
    assert worth == pytest.approx(result.worth.mean(axis=0))
    lines = str(result).split("\n")
    assert len(lines) == 3
    assert "3 runs of 2,000 users, ε = 2" in lines[0]


def test_runs_do_not_depend_on_workers_or_on_other_runs() -> None:
    one = small(workers=1)
    for other in (small(workers=3), small(runs=2), small(workers=7, runs=2)):
        np.testing.assert_array_equal(other.worth, one.worth[: len(other.worth)])
        np.testing.assert_array_equal(other.earned, one.earned[: len(other.worth)])


@pytest.mark.slow
def test_processes_change_nothing_either() -> None:
    given: dict[str, Any] = {"users": 400, "runs": 2, "horizon": 10, "return_range": (0, 10)}
    name = "tests.worlds.own_envs:Echo"
    one, other = learn(name, **given), learn(name, workers=2, **given)
    np.testing.assert_array_equal(one.worth, other.worth)


def test_no_privacy_reports_the_whole_return() -> None:
    result = small(epsilon=None)
    assert math.isinf(result.epsilon)
    assert result.mean_return.mean() > small(epsilon=0.5).mean_return.mean()
    assert "no privacy" in str(result)


def test_it_starts_from_a_policy_that_one_has() -> None:
    first = small(runs=1, users=4000).policies[0]
    again = small(start=first.parameters, spread=0.1, users=300)
    assert again.start_return > 0.9


def test_progress_is_told() -> None:
    told: list[tuple[int, int]] = []
    small(runs=2, workers=1, progress=lambda run, users: told.append((run, users)))
    assert [users for run, users in told if run == 1][-1] == 2000
    assert told == sorted(told)


def test_a_picture_and_a_frame(monkeypatch: pytest.MonkeyPatch) -> None:
    result = small()
    (axes,) = result.plot().axes
    line, *_ = axes.lines
    np.testing.assert_allclose(np.asarray(line.get_ydata(), dtype=float), result.curve[1])
    frame = result.to_frame()  # of pyarrow: pandas is not among the packages of the tests
    assert frame.num_rows == result.worth.size
    assert frame.column_names == ["run", "users", "mean_return"]
    assert frame["mean_return"].to_pylist() == result.worth.ravel().tolist()
    monkeypatch.setitem(sys.modules, "pandas", SimpleNamespace(DataFrame=sorted))
    assert result.to_frame() == ["mean_return", "run", "users"]


def test_where_the_best_is_not_known_no_regret_is_claimed() -> None:
    result = learn("MountainCar-v0", users=200, horizon=5)
    assert (result.best, result.regret, result.learned) == (None, None, None)
    assert "regret" not in str(result)


@pytest.mark.parametrize(
    ("given", "field"),
    [
        ({"users": 0}, "users"),
        ({"runs": 0}, "runs"),
        ({"seed": -1}, "seed"),
        ({"workers": 0}, "workers"),
        ({"epsilon": 0.0}, "epsilon"),
        ({"epsilon": None, "mechanism": "threshold-bits"}, "epsilon"),
        ({"learner": "ldp-obi"}, "mechanism"),
        ({"mechanism": "laplace"}, "mechanism"),
        ({"policy": "network", "hidden": (0,)}, "hidden"),
        ({"activation": "relu"}, "activation"),
    ],
)
def test_bad_input_is_refused(given: dict[str, Any], field: str) -> None:
    with pytest.raises(InputError) as caught:
        small(**given)
    assert caught.value.field == field


def test_an_environment_that_cannot_be_made_again_is_played_by_one_worker() -> None:
    from tests.worlds.own_envs import Echo

    given: dict[str, Any] = {"users": 300, "runs": 2, "horizon": 10, "return_range": (0, 10)}
    assert learn(Echo(), workers=1, **given).worth.shape[0] == 2
    with pytest.raises(InputError, match="module:factory"):
        learn(Echo(), workers=2, **given)


def test_it_is_found_at_the_top() -> None:
    assert ldprl.learn is learn
