"""The whole loop of LDP-ES, from users to sums to plans, against its formulas written out."""

from __future__ import annotations

import functools
import itertools
import json
import math
import operator
import random
from typing import NamedTuple

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

from ldprl.assignment import Assignment
from ldprl.learning.ldp_es import LDPES
from ldprl.learning.learner import next_plan
from ldprl.mechanisms.questions.threshold import Threshold, Words
from ldprl.mechanisms.return_sums import ReturnSums
from ldprl.mechanisms.threshold_bits import ThresholdBits
from ldprl.policies.perturbed import Perturbed
from ldprl.shape import BoolArray, FloatArray, IntArray
from ldprl.simulation.rollouts import Streams, roll_out
from ldprl.worlds.contexts import Contexts
from ldprl.worlds.sampled_from import sampled_from
from tests.statistical.checks import TYPE_I, together
from tests.statistical.slow_search import Slow, User, live

SEEN = np.random.default_rng(1).normal(size=(40, 2))
REWARDS = np.column_stack([0.2 + 0.6 * (SEEN[:, 0] > 0), np.full(len(SEEN), 0.5)])
WORLD = sampled_from(Contexts(SEEN, REWARDS))
EPSILON, PLANS, RUNS = 2.0, 16, 150
SIZE = WORLD.problem.size
MECHANISM = ThresholdBits(WORLD.problem, EPSILON)


class Crowd(NamedTuple):
    """Users of one plan: what is drawn of them and what they report."""

    plan: Assignment
    law: Perturbed
    asked: Threshold
    shifts: NDArray[np.int8]
    words: Words
    wide: BoolArray
    bits: BoolArray

    def part(self, whose: BoolArray) -> ReturnSums:
        """Return the sums of some of them, as the server has them that they reported to."""
        some = self.shifts[whose], self.words[whose], self.wide[whose], self.bits[whose]
        tally = MECHANISM.sums(self.asked, *some)
        return MECHANISM.decode(tally, int(whose.sum()), self.plan)


def crowd(sums: ReturnSums, users: int, rng: np.random.Generator) -> Crowd:
    """Return users of the next plan.

    Returns rise with the first parameter's shift, and are best where the last one has none.
    """
    (one,) = next_plan(LDPES(MECHANISM), MECHANISM, sums, rng)
    law, (asked,) = one.distribution, one.questions
    assert isinstance(law, Perturbed)
    shifts = law.draw(rng, users)
    value = shifts[:, 0] - shifts[:, -1].astype(float) ** 2 + rng.normal(size=users)
    bits = rng.random(users) < 1 / (1 + np.exp(-value))
    return Crowd(one, law, asked, shifts, *law.draw_words(rng, users), bits)


@pytest.mark.parametrize("sizes", [(300,) * 3, (40, 700, 90, 1500), (2000, 100, 100, 100)])
def test_the_state_is_what_the_formulas_say(sizes: tuple[int, ...]) -> None:
    """Plan after plan, of any size, but for rounding; the mutant takes lies for the truth."""
    agent, sums, rng = LDPES(MECHANISM), ReturnSums(), np.random.default_rng(sum(sizes))
    slow, fooled = Slow(EPSILON, SIZE), Slow(EPSILON, SIZE, undone=False)
    for users in sizes:
        some = crowd(sums, users, rng)
        assert (some.asked.low, some.asked.high) == slow.range
        assert np.abs(np.subtract(some.asked.baseline, slow.baseline)).max() <= 1
        sums += some.part(np.ones(users, dtype=bool))
        cells: IntArray = some.asked.cells(some.words, some.wide)
        told = zip(some.shifts.tolist(), cells.tolist(), some.bits.tolist(), strict=True)
        everybody = [User(shift, cell, int(bit)) for shift, cell, bit in told]
        for one in (slow, fooled):
            one.learn(everybody, some.asked.baseline, some.law.spread.astype(float).tolist())
        state = agent.state(sums)
        np.testing.assert_allclose(state.mean, slow.mean, rtol=0, atol=1e-9)
        np.testing.assert_allclose(state.log_spread, slow.log_spread, rtol=0, atol=1e-9)
    assert np.abs(np.subtract(agent.state(sums).mean, fooled.mean)).max() > 1e-3


def test_sums_of_servers_make_the_same_plan_in_whatever_order_they_are_merged() -> None:
    """Bit for bit: also after a restart, and where a server has none of a plan's users."""
    sums, rng, servers = ReturnSums(), np.random.default_rng(5), [ReturnSums()] * 3
    for version, users in enumerate((500, 80, 900)):
        some = crowd(sums, users, rng)
        sums += some.part(np.ones(users, dtype=bool))
        whose = rng.integers(0 if version else 1, 3, size=users)
        servers = [one + some.part(whose == i) for i, one in enumerate(servers)]
    expected = planned(sums)
    for order in itertools.permutations(servers):
        assert planned(functools.reduce(operator.add, order)) == expected
    assert planned(servers[1] + servers[2]) != expected


def planned(sums: ReturnSums) -> tuple[object, ...]:
    """Return all of the next plan, made by a server that has just started."""
    (one,) = LDPES(MECHANISM).plan(sums, np.random.default_rng(0))
    assert one.distribution is not None
    return one.questions, json.dumps(one.distribution.document())


def one_by_one(seed: int, *, undone: bool = True) -> FloatArray:
    slow = Slow(EPSILON, SIZE, undone=undone)
    earned = live(SEEN.tolist(), REWARDS.tolist(), slow, PLANS, random.Random(seed))
    mean, _ = slow.law
    return np.array([*earned, *mean, math.hypot(*mean)])


def at_once(seed: int) -> FloatArray:
    users = PLANS * Slow(EPSILON, SIZE).plan_size
    found = roll_out(WORLD, LDPES(MECHANISM), MECHANISM, users, Streams(seed, 0), lambda _: None)
    mean = found.policy.parameters
    return np.array([*found.earned, *mean, np.linalg.norm(mean)])


def agreement(first: FloatArray, second: FloatArray) -> float:
    pairs = zip(first.T, second.T, strict=True)
    return together([float(stats.ks_2samp(*pair).pvalue) for pair in pairs])


def test_the_loop_has_the_law_of_the_formulas() -> None:
    """Type-I error ≤ 1e-6 over 23 columns; the mutant takes lies for the truth."""
    fast = np.array([at_once(seed) for seed in range(RUNS)])
    assert len(fast[0]) == PLANS + SIZE + 1
    slow = np.array([one_by_one(seed) for seed in range(RUNS)])
    assert agreement(fast, slow) >= TYPE_I
    fooled = np.array([one_by_one(RUNS + seed, undone=False) for seed in range(RUNS)])
    assert agreement(fast, fooled) < TYPE_I
