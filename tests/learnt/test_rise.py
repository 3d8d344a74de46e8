"""Has a policy learnt, and how many users does it take? From sums, in worlds that are known."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
import pytest

from ldprl.learning.ldp_es import LDPES
from ldprl.learning.learner import next_plan
from ldprl.learnt.search import rise, searched, users_needed
from ldprl.mechanisms.return_sums import ReturnSums
from ldprl.mechanisms.threshold_bits import ThresholdBits
from ldprl.policies.perturbed import Perturbed
from ldprl.worlds.sampled import SampledWorld
from ldprl.worlds.sampled_from import sampled_from
from tests.learning.searching import AIM, PROBLEM, learnt, served

RNG = np.random.default_rng
_RUNS = 200
_FRESH = 400
"""Episodes of a plan, at least, that say what its users earn: some beside those of its users."""
_MOST_USERS = 10**5


def test_one_plan_shows_nothing() -> None:
    mechanism = ThresholdBits(PROBLEM, 1.0)
    sums = served(LDPES(mechanism), ReturnSums(), 300, RNG(1))
    assert rise(mechanism, sums.laws) == 0
    assert users_needed(300, 0.0) == 900
    assert "at least about 900 users" in searched(mechanism, sums.laws)["said"]


def test_returns_that_rise_are_seen() -> None:
    mechanism = ThresholdBits(PROBLEM, 2.0)
    found = searched(mechanism, learnt(LDPES(mechanism), 20_000, RNG(3)).laws)
    assert found["significant"]
    assert found["users_needed"] is None
    assert found["value"] > 0.85
    assert found["value"] > found["start_value"] + 0.1


def test_where_nothing_can_be_learnt_nothing_shows() -> None:
    """The rise has the variance that bits leave, within 5 standard errors of 200 runs.

    Its mean is at most 0, up to 5 standard errors: thresholds go to where the first users seemed to
    have returns. Each fails by chance with a probability below 1e-6. A mutant that takes v for ¼
    has 4.7 times the variance, 27 standard errors away.
    """
    rises = []
    for seed in range(_RUNS):
        mechanism = ThresholdBits(PROBLEM, 1.0)
        sums, rng = ReturnSums(), RNG(100 + seed)
        for count in (300, 300, 300):
            sums = served(LDPES(mechanism), sums, count, rng, aim=AIM + 100)
        rises.append(rise(mechanism, sums.laws))
    assert -1 < np.mean(rises) < 5 / np.sqrt(_RUNS)
    # Bits of returns that are always 0 scatter by f(1 − f)/(1 − 2f)², a little less than v.
    flip, variance = mechanism.flip, mechanism.variance
    expected = flip * (1 - flip) / mechanism.contrast**2 / variance
    assert abs(np.var(rises) / expected - 1) < 5 * np.sqrt(2 / _RUNS)


def _looks(
    world: SampledWorld, epsilon: float, half: float, seed: int
) -> tuple[int, list[tuple[int, float]]]:
    """Return after how many users the last five plans earn ``half``, and what was said of that.

    The last thing is said when the rise is certain.
    """
    mechanism = ThresholdBits(world.problem, epsilon)
    learner, rng, sums = LDPES(mechanism), RNG(seed), ReturnSums()
    said, earned, needed = list[tuple[int, float]](), list[float](), 0
    while not needed or said[-1][1] > said[-1][0]:
        (one,) = next_plan(learner, mechanism, sums, rng)
        law, count = one.distribution, learner.plan_size(sums.users)
        assert isinstance(law, Perturbed)
        shifts = law.draw(rng, max(count, _FRESH))
        returns = world.returns(law.shifted(shifts), rng)
        tally = mechanism.sample_sums(one, shifts[:count], returns[:count], rng)
        sums = sums + mechanism.decode(tally, count, one)
        if not said or said[-1][1] > said[-1][0]:
            said.append((sums.users, _needed(mechanism, sums)))
        earned.append(float(returns.mean()))
        if not needed and len(earned) >= 5 and np.mean(earned[-5:]) > half:
            needed = sums.users
        assert sums.users < _MOST_USERS
    return needed, said


def _needed(mechanism: ThresholdBits, sums: ReturnSums) -> float:
    return max(sums.users, users_needed(sums.users, rise(mechanism, sums.laws)))


PROBLEMS: dict[str, tuple[Callable[[], SampledWorld], float, float]] = {
    "CartPole": (partial(sampled_from, "CartPole-v1"), 1.0, 265.0),
    "Acrobot": (partial(sampled_from, "Acrobot-v1"), 1.0, -280.0),
    "glucose": (partial(sampled_from, "glucose"), 0.5, 13.8),
    "MountainCar": (partial(sampled_from, "MountainCar-v0"), 1.0, -150.0),
}
"""World, ε, and the mean return with which half of the gap is closed."""


@pytest.mark.slow
@pytest.mark.parametrize("name", PROBLEMS)
def test_the_users_that_are_needed_are_right_within_a_factor_of_three(name: str) -> None:
    """In the median of five runs, from a third of them until the rise is certain."""
    build, epsilon, half = PROBLEMS[name]
    world, ratios = build(), []
    for seed in range(5):
        needed, said = _looks(world, epsilon, half, seed)
        asked = [about / needed for users, about in said if users >= needed / 3]
        ratios.append(asked or [said[-1][1] / needed])
    assert np.median([min(one) for one in ratios]) > 1 / 3
    assert np.median([max(one) for one in ratios]) < 3
