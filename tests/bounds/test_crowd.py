"""Bounds with a crowd: the inequality behind the central one, and how they relate."""

from __future__ import annotations

import math

import numpy as np
import pytest

from ldprl.bounds.alternatives import Instance
from ldprl.bounds.crowd import crowd_bounds
from ldprl.bounds.evi import evi_upper_bound
from ldprl.bounds.instance import instance_lower_bound
from ldprl.bounds.pair import pair_of
from ldprl.errors import InputError
from ldprl.mechanisms.subset_selection import SubsetSelection
from ldprl.shape import FloatArray

from .test_information import some_channel
from .worlds import bandit


def total_variation(first: FloatArray, second: FloatArray) -> float:
    return float(np.abs(first - second).sum() / 2)


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 3.0])
@pytest.mark.parametrize("delta", [0.0, 0.05])
def test_an_approximately_private_channel_shrinks_total_variation(
    epsilon: float, delta: float
) -> None:
    """TV(QP, QP') ≤ t·(tanh(ε/2)(1−δ) + δ) for (ε, δ)-DP Q; tanh(ε/2) alone fails where δ > 0."""
    rng = np.random.default_rng(8)
    factor = math.tanh(epsilon / 2) * (1 - delta) + delta
    for _ in range(100):
        letters = int(rng.integers(2, 6))
        private = some_channel(letters, epsilon, rng)
        # With probability δ the letter itself is reported.
        channel = np.hstack([(1 - delta) * private, delta * np.eye(letters)])
        first, second = rng.dirichlet(np.ones(letters), size=2)
        distance = total_variation(first @ channel, second @ channel)
        assert distance <= total_variation(first, second) * factor + 1e-12
    response = np.array([[math.exp(epsilon), 1], [1, math.exp(epsilon)]]) / (math.exp(epsilon) + 1)
    channel = np.hstack([(1 - delta) * response, delta * np.eye(2)])
    distance = total_variation(*channel)
    assert distance == pytest.approx(factor)
    assert delta == 0 or distance > math.tanh(epsilon / 2) * (1 + 1e-9)


def moved_by(table: FloatArray, laws: FloatArray) -> tuple[float, list[float]]:
    """Return how far a transcript of three users moves with their laws, and a bound for each."""
    first = np.einsum("abcy,a,b,c->y", table, *laws[0])
    second = np.einsum("abcy,a,b,c->y", table, *laws[1])
    each = []
    for axis in range(3):
        apart = np.abs(np.diff(table, axis=axis)).sum(axis=-1) / 2
        each.append(total_variation(laws[0, axis], laws[1, axis]) * float(apart.max()))
    return total_variation(first, second), each


def test_users_of_a_version_add_up() -> None:
    """Changing n users' laws moves a transcript by at most the sum of what each one moves."""
    rng = np.random.default_rng(9)
    for _ in range(50):
        table = rng.dirichlet(np.ones(4), size=(2, 2, 2))
        moved, each = moved_by(table, rng.dirichlet(np.ones(2), size=(2, 3)))
        assert moved <= sum(each) + 1e-12
    # The mutants: two users are not enough, and neither is 0.95 of the sum, where the transcript
    # shows whether any of them has the second letter.
    anyone = np.zeros((2, 2, 2, 2))
    anyone[..., 1] = 1
    anyone[0, 0, 0] = 1, 0
    moved, each = moved_by(anyone, np.array([[[1, 0]] * 3, [[0.99, 0.01]] * 3]))
    assert sum(each[:2]) < moved <= sum(each)
    assert moved > 0.95 * sum(each)


def test_a_crowd_buys_a_larger_local_epsilon_and_lower_bounds_that_are_smaller() -> None:
    mdp = bandit(0.9, 0.7)
    small, large = (crowd_bounds(mdp, crowd, 1.0, 1e-8, 10**6) for crowd in (10**3, 10**5))
    assert 1 < small.local_epsilon < large.local_epsilon
    assert small.instance_lower_bound > large.instance_lower_bound
    expected = instance_lower_bound(mdp, large.local_epsilon).at(10**6)
    assert large.instance_lower_bound == pytest.approx(expected)
    free = instance_lower_bound(mdp, None).at(10**6)
    assert large.instance_lower_bound >= free
    mechanism = SubsetSelection(mdp.shape, large.local_epsilon)
    assert large.upper == evi_upper_bound(mechanism, 0.1)
    assert small.upper.regret(gap=0.2) > large.upper.regret(gap=0.2)
    crowd = int(3 * large.upper.largest_plan)
    assert crowd_bounds(mdp, crowd, 1.0, 1e-8, 10**6).upper.largest_plan == crowd


def test_the_central_bound_is_the_cost_over_the_change_and_epsilon() -> None:
    """For small ε, η and K → ∞: R ≥ about c/(d·tanh(ε/2)), whatever the reports are."""
    instance = Instance(bandit(0.5, 0.4))
    one = instance.alternative(instance.rows[1], 0, 1 / 3, 1.0, True)
    pair = pair_of(instance, one)
    bound = pair.central_lower_bound(0.01, 0.0, 10**9)
    assert bound == pytest.approx(0.1 / (0.2 * math.tanh(0.005)), rel=0.01)


def test_bad_input_is_refused() -> None:
    with pytest.raises(InputError, match="crowd"):
        crowd_bounds(bandit(0.9, 0.7), 0, 1.0, 1e-8, 10**6)
    with pytest.raises(InputError, match="delta"):
        crowd_bounds(bandit(0.9, 0.7), 100, 1.0, 0.0, 10**6)
