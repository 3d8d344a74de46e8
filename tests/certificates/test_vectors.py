"""Certificates where users see vectors: they cover at all times, and limit what is lost."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from functools import partial

import numpy as np
import pytest
from scipy import stats

from ldprl.certificates.certificate import Scale, certificate
from ldprl.certificates.evidence import Evidence, Terms, certified, is_certifying
from ldprl.certificates.sequence import Bits, Interval
from ldprl.learning.ldp_es import LDPES
from ldprl.learning.learner import next_plan
from ldprl.mechanisms.threshold_bits import ThresholdBits
from ldprl.policies.linear import Linear
from ldprl.policies.perturbed import Perturbed
from ldprl.shape import FloatArray

LEAST, MOST = -2.0, 3.0
START = np.array([0.1, -0.1, -0.7, 0.7], dtype=np.float32)
"""The incumbent is right but for a between 0 and 1/7."""
PROBLEM = Linear(
    features=["a"], actions=["no", "yes"], horizon=1, returns=(LEAST, MOST), start=START
)
MECHANISM = ThresholdBits(PROBLEM, 2.0)
USERS, BATCH, RUNS = 3000, 300, 100
CONFIDENCE = 0.9


def returns(
    parameters: FloatArray, rng: np.random.Generator, *, turned: bool = False
) -> FloatArray:
    """Return what users earn: more if they say yes to a positive a, no to a negative one.

    In a world that is ``turned`` it is the other way round.
    """
    a = rng.normal(size=len(parameters))
    right = PROBLEM.act_many(parameters, a[:, None]) == (a > 0)
    return np.clip(rng.normal(np.where(right != turned, 1.5, -1.0), 1.0), LEAST, MOST)


def worth_of(parameters: FloatArray) -> float:
    """Return the mean return of one policy, exactly."""
    no, yes, no_weight, yes_weight = parameters
    bias, weight = yes - no, yes_weight - no_weight
    # Wrong between 0 and where the policy turns, or everywhere else.
    wrong = abs(stats.norm.cdf(-bias / weight) - 0.5)
    wrong = wrong if weight > 0 else 1 - wrong
    return float((1 - wrong) * RIGHT + wrong * WRONG)


def _cut(mean: float) -> float:
    """Return the mean of a normal number of variance 1 that is cut to the range."""
    low, high = (float(stats.norm.cdf(end - mean)) for end in (LEAST, MOST))
    ends = [float(stats.norm.pdf(end - mean)) for end in (LEAST, MOST)]
    return LEAST * low + MOST * (1 - high) + mean * (high - low) + ends[0] - ends[1]


RIGHT, WRONG = _cut(1.5), _cut(-1.0)


def run(
    terms: Terms, seed: int, *, reckless: bool = False, turns_at: int = USERS
) -> Iterator[tuple[Evidence, float]]:
    """Yield, after each plan's users, the evidence and what all users earned together.

    A ``reckless`` one has all users explore, whatever the evidence says, and learns nothing. The
    world is turned from user ``turns_at`` on.
    """
    rng, learner = np.random.default_rng(seed), LDPES(MECHANISM)
    sums, evidence, earned = MECHANISM.no_statistics(), Evidence(terms), 0.0
    for users in range(0, USERS, BATCH):
        plan = next_plan(learner, MECHANISM, sums, rng)
        best = partial(learner.best_policy, sums, rng)
        plan = evidence.asked(plan, users, best, MECHANISM.ask)
        if reckless:
            plan = learner.plan(MECHANISM.no_statistics(), rng)
        evidence.note(users, plan)
        for one, count in zip(plan, rng.multinomial(BATCH, [p.share for p in plan]), strict=True):
            law = one.policies
            assert isinstance(law, Perturbed)
            shifts = law.draw(rng, int(count))
            paid = returns(law.shifted(shifts), rng, turned=users >= turns_at)
            earned += float(paid.sum())
            tally = MECHANISM.sample_sums(one, shifts, paid, rng)
            sums += MECHANISM.decode(tally, int(count), one)
            evidence.add(one, int(count), tally)
        yield evidence, earned


Intervals = Callable[[Bits, Bits, int], tuple[Interval, Interval]]
SCALE = Scale(MECHANISM.kept, MOST, LEAST)


def certified_intervals(bits: Bits, incumbent: Bits, place: int) -> tuple[Interval, Interval]:
    found = certificate(bits, place, SCALE, CONFIDENCE, incumbent)
    assert found.better is not None
    return found.worth, found.better


def fixed_intervals(bits: Bits, incumbent: Bits, place: int) -> tuple[Interval, Interval]:
    """Return what holds with the confidence at one time, for one policy: the mutant."""
    reach = stats.norm.isf((1 - CONFIDENCE) / 2)
    one, other = (0.25 / max(it.users, 1) for it in (bits, incumbent))
    mean, apart = bits.mean, bits.mean - incumbent.mean
    near, far = reach * math.sqrt(one), reach * math.sqrt(one + other)
    worth, better = Interval(mean - near, mean + near), Interval(apart - far, apart + far)
    return SCALE.worth(worth), SCALE.difference(better)


def failures(intervals: Intervals) -> int:
    """Return in how many runs any interval ever misses what it is about."""
    terms = Terms(0.4, CONFIDENCE, SCALE, PROBLEM.incumbent)
    assert PROBLEM.incumbent is not None
    old, failed = worth_of(PROBLEM.incumbent.parameters), 0
    for seed in range(RUNS):
        missed = False
        for evidence, _ in run(terms, seed):
            for place, policy in enumerate(evidence.policies):
                found = intervals(evidence.bits[place], evidence.incumbent, place + 1)
                worth = worth_of(policy.parameters)
                for interval, true in zip(found, (worth, worth - old), strict=True):
                    missed |= not interval.low <= true <= interval.high
        failed += missed
    return failed


@pytest.mark.slow
@pytest.mark.parametrize("intervals", [certified_intervals, fixed_intervals])
def test_certificates_cover(intervals: Intervals) -> None:
    """Worth and difference fail in at most 20% of runs; type-I error 1e-6 by the binomial law."""
    most = stats.binom.isf(1e-6, RUNS, 2 * (1 - CONFIDENCE))
    assert (failures(intervals) <= most) == (intervals is certified_intervals)


def test_who_answers_has_the_policy_that_is_under_certificate() -> None:
    terms = Terms(0.4, CONFIDENCE, SCALE, PROBLEM.incumbent)
    *_, (evidence, _) = run(terms, 7)
    fresh = LDPES(MECHANISM).plan(MECHANISM.no_statistics(), np.random.default_rng(0))
    plan = evidence.asked(fresh, USERS, lambda: PROBLEM.incumbent)
    assert sum(one.share for one in plan) == pytest.approx(1)
    shown = [certified(one) for one in plan if is_certifying(one)]
    assert evidence.current is not None
    current = evidence.policies[evidence.current]
    assert shown[0].parameters.tolist() == current.parameters.tolist()
    assert sum(bits.users for bits in evidence.bits) + evidence.incumbent.users > 0.3 * USERS


@pytest.mark.parametrize("mutant", [False, True])
def test_users_lose_no_more_than_is_allowed_against_the_start(mutant: bool) -> None:
    """Of what the incumbent brings above the least return, after each plan of ten runs.

    What is promised fails with probability 1e-7 a run; six standard errors of what users happen to
    earn are added to it. The mutant has everybody explore.
    """
    most_lost = 0.1
    terms = Terms(0.2, 1 - 1e-7, SCALE, PROBLEM.incumbent, most_lost)
    assert PROBLEM.incumbent is not None
    old = worth_of(PROBLEM.incumbent.parameters)
    lost, explored = False, False
    for seed in range(10):
        for place, (evidence, earned) in enumerate(run(terms, seed, reckless=mutant), 1):
            users = place * BATCH
            allowed = users * ((1 - most_lost) * (old - LEAST) + LEAST)
            lost |= earned < allowed - 6 * 1.7 * np.sqrt(users) - 0.01 * users
            explored |= evidence.current is not None
    assert lost == mutant
    assert explored != mutant


@pytest.mark.parametrize("turns", [False, True])
def test_a_world_that_turns_is_noticed(turns: bool) -> None:
    """A false alarm has probability 1e-7; the incumbent's users see it, and when it was."""
    terms = Terms(0.4, CONFIDENCE, SCALE, PROBLEM.incumbent, alarm=1e-7)
    *_, (evidence, _) = run(terms, 11, turns_at=1500 if turns else USERS)
    found = evidence.change()
    assert (found is not None) == turns
    if found is not None:
        assert 1200 <= found.since <= 1800
        assert found.before > found.after
