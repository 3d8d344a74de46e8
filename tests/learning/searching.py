"""A world whose return falls with the square of the distance to a hidden point."""

from __future__ import annotations

import numpy as np

from ldprl.learning.ldp_es import LDPES
from ldprl.learning.learner import next_plan
from ldprl.mechanisms.return_sums import ReturnSums
from ldprl.mechanisms.threshold_bits import ThresholdBits
from ldprl.policies.linear import Linear
from ldprl.shape import FloatArray

PROBLEM = Linear(features=("a", "b", "c"), actions=("x", "y"), horizon=1, returns=(0, 1))
AIM = np.linspace(-1.0, 1.0, PROBLEM.size)


def mean_return(parameters: FloatArray, aim: FloatArray = AIM) -> FloatArray:
    """Return the chance of a reward: 1 at the aim, falling with the distance."""
    result: FloatArray = np.exp(-((parameters - aim) ** 2).mean(axis=-1))
    return result


def served(
    learner: LDPES,
    sums: ReturnSums,
    count: int,
    rng: np.random.Generator,
    aim: FloatArray = AIM,
    lies: float = 1.0,
) -> ReturnSums:
    """Return the sums with those of ``count`` users of the next plan, a share of whom may lie."""
    mechanism = learner.mechanism
    assert isinstance(mechanism, ThresholdBits)
    (one,) = next_plan(learner, mechanism, sums, rng)
    law, (asked,) = one.distribution, one.questions
    shifts = law.draw(rng, count)  # type: ignore[union-attr]
    words = rng.integers(2**32, size=count, dtype=np.uint32)
    wide = rng.random(count) < 26 / 256
    chances = mean_return(law.shifted(shifts), aim)  # type: ignore[union-attr]
    returns = (rng.random(count) < chances).astype(np.float64)
    bits = mechanism.true_bits(asked, returns, words, wide)
    bits = np.where(rng.random(count) < lies, mechanism.randomized(bits, rng), bits)
    tally = mechanism.sums(asked, shifts, words, wide, bits)
    return sums + mechanism.decode(tally, count, one)


def learnt(
    learner: LDPES, users: int, rng: np.random.Generator, aim: FloatArray = AIM
) -> ReturnSums:
    """Return the sums of ``users`` users, plan after plan."""
    sums = ReturnSums()
    while sums.users < users:
        sums = served(learner, sums, learner.plan_size(sums.users), rng, aim)
    return sums
