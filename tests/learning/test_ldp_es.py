"""LDP-ES climbs, is a function of sums in the order of their plans, and forgets when told to."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from ldprl import InputError, Laplace, Shape
from ldprl.assignment import check_plan
from ldprl.learning.ldp_es import LDPES, SearchState
from ldprl.mechanisms.questions.returns import UNIT
from ldprl.mechanisms.questions.threshold import CELLS
from ldprl.mechanisms.return_sums import LawSums, ReturnSums, tally_of
from ldprl.mechanisms.threshold_bits import ThresholdBits
from ldprl.policies.linear import Linear
from ldprl.policies.perturbed import Perturbed
from ldprl.shape import FloatArray
from tests.learning.searching import AIM, PROBLEM, learnt, mean_return, served

RNG = np.random.default_rng


def learner(epsilon: float = 2.0, memory: int | None = None) -> LDPES:
    return LDPES(ThresholdBits(PROBLEM, epsilon), memory_users=memory)


@pytest.mark.parametrize("seed", [3, 4])
def test_it_learns_from_bits(seed: int) -> None:
    """The first mean is worth 0.65; 20,000 bits at ε = 2 lead to 0.95 of the best and more."""
    agent = learner()
    sums = learnt(agent, 20_000, RNG(seed))
    best = agent.best_policy(sums, RNG(0)).parameters
    assert mean_return(np.zeros_like(AIM)) < 0.66
    assert mean_return(best) > 0.95
    assert agent.state(sums).spread.mean() < 0.5


def test_bits_that_say_nothing_teach_nothing() -> None:
    """Without a signal the spread stays at its cap: nothing has been learnt."""
    agent = learner()
    sums = learnt(agent, 20_000, RNG(5), aim=AIM + 100)
    assert np.sqrt((agent.state(sums).spread ** 2).mean()) > 0.7


def test_the_state_is_a_function_of_the_sums_alone() -> None:
    """Remembered or gone through again, and whichever servers the sums were added by."""
    agent, sums = learner(), ReturnSums()
    for count in (300, 500, 700):
        sums = served(agent, sums, count, RNG(count))
    expected = agent.state(sums)
    # The reports of the second plan come in two parts, of which one is late.
    second = sums.laws[1]
    early = replace(second, users=400, tally=second.tally // 2)
    late = replace(second, users=100, tally=second.tally - second.tally // 2)
    apart = ReturnSums((sums.laws[0], early, sums.laws[2])) + ReturnSums((late,))
    for found in (learner().state(sums), learner().state(apart), agent.state(apart)):
        np.testing.assert_array_equal(found.mean, expected.mean)
        np.testing.assert_array_equal(found.log_spread, expected.log_spread)
        np.testing.assert_array_equal(found.counts, expected.counts)


def test_the_first_plan_that_is_kept_is_the_start() -> None:
    """Goes on from the policies of the time, as if there had been nobody before."""
    agent, sums = learner(), ReturnSums()
    for seed in (1, 2, 3):
        sums = served(agent, sums, 900, RNG(seed))
    (kept,) = sums.laws[2:]
    found = agent.state(ReturnSums((kept,)))
    assert found.users == 900
    whole = agent.state(sums)
    moved = np.linalg.norm(found.mean - kept.law.mean.astype(np.float64))
    assert moved < 2 * np.linalg.norm(whole.mean)
    nobody = agent.state(ReturnSums((replace(kept, users=0),)))
    assert nobody.users == 0


def test_users_whose_parameters_are_not_shifted_teach_nothing() -> None:
    agent = learner()
    sums = learnt(agent, 2_000, RNG(6))
    last = sums.laws[-1]
    zero = np.zeros_like(last.law.spread)
    still = Perturbed(PROBLEM, "a" * 32, last.law.mean, zero)
    more = sums + ReturnSums((replace(last, law=still),))
    assert more.users > sums.users
    np.testing.assert_array_equal(agent.state(more).mean, agent.state(sums).mean)


def test_what_is_remembered_is_capped_and_the_world_may_change() -> None:
    """After 30,000 users the aim is turned round: with a memory of 3,000 it is found again."""
    found = []
    for memory in (3_000, None):
        agent, rng = learner(memory=memory), RNG(7)
        sums = learnt(agent, 30_000, rng)
        while sums.users < 45_000:
            sums = served(agent, sums, agent.plan_size(3_000), rng, aim=-AIM)
        assert agent.state(sums).users == sums.users
        found.append(float(mean_return(agent.best_policy(sums, rng).parameters, -AIM)))
    assert found[0] > 0.85
    assert found[0] > found[1] + 0.1


def test_plans_pass_the_door() -> None:
    agent, sums = learner(1.0), ReturnSums()
    for count in (0, 1, 50, 2_000):
        plan = check_plan(agent.plan(sums, RNG(count)), PROBLEM)
        (asked,) = plan[0].questions
        assert len(asked.baseline) == CELLS
        assert 0 <= asked.low < asked.high <= UNIT
        if count:
            sums = served(agent, sums, count, RNG(count))
    first = agent.plan(ReturnSums(), RNG(0))[0]
    assert (first.questions[0].low, first.questions[0].high) == (0, UNIT)
    assert agent.plan_size(0) == np.ceil(50 * agent.mechanism.variance)
    assert agent.plan_size(10**6) == 50_000


def test_the_same_sums_and_randomness_are_the_same_plan() -> None:
    agent = learner()
    sums = learnt(agent, 2_000, RNG(8))
    one, other = (kind.plan(sums, RNG(1))[0] for kind in (agent, learner()))
    assert one.questions == other.questions
    assert one.distribution.document() == other.distribution.document()  # type: ignore[union-attr]


def test_it_starts_from_the_policy_that_one_has() -> None:
    start = AIM.astype(np.float32)
    known = Linear(
        features=("a", "b", "c"),
        actions=("x", "y"),
        horizon=1,
        returns=(0, 1),
        start=start,
        spread="0.1",
    )
    agent = LDPES(ThresholdBits(known, 1.0))
    np.testing.assert_array_equal(agent.best_policy(ReturnSums(), RNG(0)).parameters, start)
    law = agent.plan(ReturnSums(), RNG(0))[0].distribution
    assert isinstance(law, Perturbed)
    np.testing.assert_allclose(law.spread, 0.1, rtol=1e-6)


def test_survival_never_rises_and_thresholds_follow_it() -> None:
    state = SearchState.start(np.zeros(2), np.ones(2))
    counts = np.full(CELLS, 100.0)
    shares = np.clip((150 - np.arange(CELLS)) / 50, 0, 1)
    above: FloatArray = RNG(9).normal(scale=2.0, size=CELLS)
    above += 100 * shares
    known = replace(state, users=1, counts=counts, above=above)
    assert np.all(np.diff(known.survival) <= 0)
    low, high = known.range
    assert 110 < low * CELLS / UNIT < 122
    assert 128 < high * CELLS / UNIT < 140
    certain = replace(
        state, users=1, counts=counts, above=np.where(np.arange(CELLS) < 128, 100.0, 0.0)
    )
    assert certain.range == (127 * UNIT // CELLS, 129 * UNIT // CELLS)


def test_other_mechanisms_and_memories_are_refused() -> None:
    with pytest.raises(InputError, match="threshold-bits"):
        LDPES(Laplace(Shape(2, 2, 2), 1.0))
    with pytest.raises(InputError, match="memory_users"):
        learner(memory=0)


def test_a_report_that_is_late_counts_with_the_law_of_its_plan() -> None:
    """Twice the users of the first plan move the mean as if all had come in time."""
    agent, rng = learner(), RNG(10)
    first = served(agent, ReturnSums(), 400, rng)
    second = served(agent, first, 400, rng)
    one = first.laws[0]
    double = LawSums(one.law, one.asked, 2 * one.users, 2 * one.tally)
    in_time = ReturnSums((double, second.laws[1]))
    late = second + first
    known = agent.state(second)
    # What an agent remembers of the same plans with fewer reports does not count.
    for found in (agent.state(late), learner().state(late)):
        np.testing.assert_array_equal(learner().state(in_time).mean, found.mean)
        assert not np.array_equal(known.mean, found.mean)


def test_gradient_and_curvature_are_those_of_the_formula() -> None:
    """Means over users of yξ and (4/3)·y(ξ² − 1), y the decoded bit less the baseline, centred."""
    agent, rng, count = learner(), RNG(9), 400
    (plan,) = agent.plan(ReturnSums(), rng)
    law = plan.distribution
    assert isinstance(law, Perturbed)
    sloped = replace(plan.questions[0], baseline=tuple(range(UNIT, 0, -UNIT // CELLS)))
    shifts = rng.integers(-2, 3, (count, PROBLEM.size), dtype=np.int8)
    cells, bits = rng.integers(CELLS, size=count), rng.random(count) < 0.7
    tally = tally_of(sloped, shifts, cells, bits)
    gradient, curvature = agent._scores(LawSums(law, sloped, count, tally))
    flip = agent.mechanism.flip
    y = (bits - flip) / (1 - 2 * flip) - np.array(sloped.baseline)[cells] / UNIT
    y, xi = y - y.mean(), shifts.astype(np.float64)
    np.testing.assert_allclose(gradient, (y[:, None] * xi).mean(axis=0), atol=1e-12)
    expected = 4 / 3 * (y[:, None] * (xi**2 - 1)).mean(axis=0)
    np.testing.assert_allclose(curvature, expected, atol=1e-12)


def test_sums_that_are_kept_begin_at_their_plan_and_have_shifted_users_alone() -> None:
    agent = learner()
    sums = served(agent, ReturnSums(), 300, RNG(1))
    (one,) = sums.laws
    far = replace(one.law, mean=one.law.mean + np.float32(50))
    assert np.all(agent.state(ReturnSums((replace(one, law=far),))).mean > 25)
    still = replace(one.law, seed="0" * 32, spread=np.zeros_like(one.law.spread))
    assert agent.state(sums + ReturnSums((replace(one, law=still),))).users == 300
