"""LDP-ES's simulation of many users at once has the law of one user at a time.

The oracle is the reference loop: each user draws a number, runs the policy, randomizes with the
client's code and is added by the codec. The other side draws shifts, thresholds and lies as arrays,
as simulations do.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import stats

from ldprl import run_protocol
from ldprl.learning.ldp_es import LDPES
from ldprl.mechanisms.return_sums import ReturnSums
from ldprl.mechanisms.threshold_bits import ThresholdBits
from ldprl.mechanisms.total import Total
from ldprl.policies.parametric import ParametricPolicy
from ldprl.policies.policy import Policy
from ldprl.shape import FloatArray
from tests.learning.searching import PROBLEM, mean_return, served
from tests.statistical.checks import TYPE_I

EPSILON, PLANS, USERS, RUNS = 0.5, 2, 50, 120


class OneByOne:
    """The world of :mod:`tests.learning.searching`, one user at a time."""

    problem = PROBLEM

    def episode(self, policy: Policy, rng: np.random.Generator) -> Total:
        assert isinstance(policy, ParametricPolicy)
        return Total(float(rng.random() < mean_return(policy.parameters)))


def columns(agent: LDPES, sums: ReturnSums) -> FloatArray:
    """Return what is compared: the state, and moments of the last plan's users."""
    state, last = agent.state(sums), sums.laws[-1]
    shifted = last.moments.astype(np.float64) / last.users
    return np.array(
        [
            *state.mean[:3],
            *state.log_spread[:2],
            *state.range,
            last.ones.sum(),
            (last.counts * np.arange(256)).sum(),
            shifted[0, 1, 0],
            shifted[0, 2, 1],
            shifted[1, 1, 2],
            shifted[1, 2, 3],
        ]
    )


def one_by_one(seed: int) -> FloatArray:
    mechanism = ThresholdBits(PROBLEM, EPSILON)
    agent = LDPES(mechanism)
    replan = lambda users: USERS  # noqa: E731
    *_, last = run_protocol(OneByOne(), agent, mechanism, PLANS * USERS, seed, replan)
    return columns(agent, last.statistics)


def at_once(seed: int, **mutant: Any) -> FloatArray:
    agent = LDPES(ThresholdBits(PROBLEM, EPSILON))
    rng, sums = np.random.default_rng(seed), ReturnSums()
    for _ in range(PLANS):
        sums = served(agent, sums, USERS, rng, **mutant)
    return columns(agent, sums)


def agreement(first: FloatArray, second: FloatArray) -> float:
    """Return the least exact Kolmogorov–Smirnov p-value of all columns, times their number."""
    pairs = zip(first.T, second.T, strict=True)
    return len(first.T) * min(float(stats.ks_2samp(*pair).pvalue) for pair in pairs)


def test_many_at_once_are_as_one_by_one() -> None:
    """Type-I error ≤ 1e-6 over 13 columns; the mutant never lies."""
    slow = np.array([one_by_one(seed) for seed in range(RUNS)])
    fast = np.array([at_once(10_000 + seed) for seed in range(RUNS)])
    assert agreement(slow, fast) >= TYPE_I
    honest = np.array([at_once(20_000 + seed, lies=0.0) for seed in range(RUNS)])
    assert agreement(slow, honest) < TYPE_I
