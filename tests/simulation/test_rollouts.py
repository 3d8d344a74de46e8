"""Users in worlds that can only be sampled: the same law as one at a time, whoever plays which."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from ldprl.catalogue import build
from ldprl.errors import InputError
from ldprl.learning.learner import next_plan
from ldprl.mechanisms.laplace import Laplace
from ldprl.mechanisms.questions.threshold import CELLS
from ldprl.mechanisms.sampling import InsecureSource
from ldprl.mechanisms.threshold_bits import ThresholdBits
from ldprl.mechanisms.total import Total
from ldprl.shape import FloatArray, Shape
from ldprl.simulation import rollouts
from ldprl.simulation.rollouts import Streams, roll_out
from ldprl.worlds.contexts import Contexts
from ldprl.worlds.sampled import SampledWorld
from ldprl.worlds.sampled_from import sampled_from

SEEN = np.random.default_rng(0).normal(size=(50, 2))
REWARDS = np.column_stack([SEEN[:, 0] > 0, SEEN[:, 0] <= 0]).astype(float)
WORLD = sampled_from(Contexts(SEEN, REWARDS))


def run(
    world: SampledWorld = WORLD,
    users: int = 3000,
    *,
    learner: str = "ldp-es",
    epsilon: float = 1.0,
    threads: int = 1,
    seed: int = 1,
) -> rollouts.Rollout:
    agent, mechanism = build(
        learner, "threshold-bits", world.problem, episodes=users, epsilon=epsilon
    )
    return roll_out(world, agent, mechanism, users, Streams(seed, 0), lambda _: None, threads)


def test_it_learns_and_says_what_happened() -> None:
    seen: list[int] = []
    agent, mechanism = build("ldp-es", "threshold-bits", WORLD.problem, episodes=9, epsilon=2.0)
    found = roll_out(WORLD, agent, mechanism, 8000, Streams(0, 0), seen.append)
    assert found.users.tolist() == seen
    assert found.users[-1] == found.looks[-1] == 8000
    assert found.looks[0] == 0
    assert (np.diff(found.looks[:-1]) > 0).all()
    assert len(found.earned) == len(found.users)
    # Half of the users are right by chance; nearly all are in the end, and so is the policy.
    assert abs(found.worth[0] - REWARDS[:, 0].mean()) < 1e-9
    assert found.worth[-1] > 0.95
    assert found.earned[0] < 0.8 < found.earned[-1]
    shares = np.diff(found.users, prepend=0) / 8000
    assert found.mean_return == pytest.approx(float(shares @ found.earned))


@pytest.mark.parametrize("threads", [2, 5])
def test_threads_change_nothing(threads: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rollouts, "_BLOCK", 60)
    one, other = run(), run(threads=threads)
    np.testing.assert_array_equal(one.earned, other.earned)
    np.testing.assert_array_equal(one.worth, other.worth)
    np.testing.assert_array_equal(one.policy.parameters, other.policy.parameters)


def test_another_seed_or_run_is_another_chance() -> None:
    assert (run().earned[:3] != run(seed=2).earned[:3]).any()
    first, second = (Streams(0, i).stream(rollouts._PLAYING, 0).random(3) for i in range(2))
    assert (first != second).all()


def test_no_two_blocks_share_a_stream() -> None:
    keys = [(use, version, block) for use in range(3) for version in range(4) for block in range(4)]
    draws = [Streams(5, 1).stream(*key).random() for key in keys]
    assert len(set(draws)) == len(keys)


def test_a_long_policy_makes_small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rollouts, "_MOST_NUMBERS", 10 * WORLD.problem.size)
    agent, mechanism = build("ldp-es", "threshold-bits", WORLD.problem, episodes=9, epsilon=1.0)
    plan = next_plan(agent, mechanism, mechanism.no_statistics(), np.random.default_rng(0))
    sizes = [one.users for one in rollouts._blocks(plan, 25, np.random.default_rng(0))]
    assert sizes == [10, 10, 5]


def moments(fast: bool, epsilon: float, users: int) -> tuple[FloatArray, FloatArray]:
    """Return mean and variance of zξ over users, by blocks or one user at a time as on a phone."""
    agent, mechanism = build(
        "ldp-es", "threshold-bits", WORLD.problem, episodes=users, epsilon=epsilon
    )
    assert isinstance(mechanism, ThresholdBits)
    rng = np.random.default_rng(17)
    (plan,) = next_plan(agent, mechanism, mechanism.no_statistics(), rng)
    law: Any = plan.distribution
    if fast:
        shifts = law.draw(rng, users)
        returns = WORLD.returns(law.shifted(shifts), rng)
        tally = mechanism.sample_sums(plan, shifts, returns, rng)
    else:
        source, reports, numbers = InsecureSource(rng), [], rng.integers(2**53, size=users).tolist()
        for number in numbers:
            own = plan.drawn(number)
            observation = WORLD._seen[int(rng.integers(len(SEEN)))]  # type: ignore[attr-defined]
            action: Any = own.policy.act(0, observation)
            row = np.flatnonzero((observation == SEEN).all(axis=1))[0]
            report = mechanism.privatize(Total(float(REWARDS[row, action])), own, source)
            reports.append(mechanism.codec(plan).admit(mechanism.codec(plan).write(report)))
        codec: Any = mechanism.codec(plan)
        tally = codec.total(reports, numbers)
    sums = np.asarray(tally)[2 * CELLS :].reshape(2, 3, -1)
    means = sums[0, 1] / users
    ones = np.asarray(tally)[CELLS : 2 * CELLS].sum() / users
    return means, np.full(len(means), ones) - means**2  # E z²ξ² = E z as ξ has variance 1


def apart(epsilon: float) -> float:
    """Return by how many standard errors blocks at ``epsilon`` miss users one by one at ε = ½."""
    (mean, variance), (slow, other) = moments(True, epsilon, 60_000), moments(False, 0.5, 6_000)
    return float(np.max(np.abs(mean - slow) / np.sqrt(variance / 60_000 + other / 6_000)))


def test_blocks_have_the_law_of_users_one_by_one() -> None:
    # Six normal draws are all within 5.3 but with probability 7e-7; bits that nobody turned round
    # are the mutant.
    assert apart(0.5) < 5.3
    assert apart(50.0) > 5.3


def test_random_search_uses_the_same_bits_and_is_worse() -> None:
    naive = run(learner="random-search", users=6000, epsilon=2.0)
    assert naive.worth[-1] >= 0.4
    assert naive.mean_return < run(users=6000, epsilon=2.0).mean_return


def test_what_cannot_be_rolled_out_is_refused() -> None:
    agent, bits = build("ldp-es", "threshold-bits", WORLD.problem, episodes=9, epsilon=1.0)
    with pytest.raises(InputError, match="such as threshold-bits"):
        roll_out(WORLD, agent, Laplace(Shape(2, 2, 2), 1.0), 9, Streams(0, 0), lambda _: None)
    tabular, _ = build("ldp-obi", "laplace", Shape(2, 2, 2), episodes=9, epsilon=1.0)
    with pytest.raises(InputError, match="such as ldp-es"):
        roll_out(WORLD, tabular, bits, 9, Streams(0, 0), lambda _: None)
    assert math.isfinite(bits.guarantee.epsilon)
    other = ThresholdBits(WORLD.problem, 8.0)
    with pytest.raises(InputError, match="that of the learner"):
        roll_out(WORLD, agent, other, 9, Streams(0, 0), lambda _: None)
    elsewhere = sampled_from(Contexts(SEEN[:, :1], REWARDS)).problem
    foreign, bits = build("ldp-es", "threshold-bits", elsewhere, episodes=9, epsilon=1.0)
    with pytest.raises(InputError, match="that of the world"):
        roll_out(WORLD, foreign, bits, 9, Streams(0, 0), lambda _: None)
