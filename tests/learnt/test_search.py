"""What a search has taught, from bits alone: mean returns without bias, and when to say so."""

from __future__ import annotations

import numpy as np
import pytest

from ldprl.assignment import Assignment
from ldprl.learnt.search import exploring, mean_return, searched
from ldprl.mechanisms.questions.returns import UNIT
from ldprl.mechanisms.questions.threshold import CELLS, Threshold
from ldprl.mechanisms.return_sums import LawSums, ReturnSums
from ldprl.mechanisms.threshold_bits import ThresholdBits
from ldprl.policies.linear import Linear
from ldprl.policies.perturbed import Perturbed
from ldprl.shape import FloatArray

PROBLEM = Linear(features=["a", "b"], actions=["no", "yes"], horizon=3, returns=(-2, 6))
MECHANISM = ThresholdBits(PROBLEM, 1.0)


def reported(number: int, users: int, returns: FloatArray, rng: np.random.Generator) -> ReturnSums:
    """Return the sums of users with these returns, asked in the middle of the range mostly."""
    ones = np.ones(PROBLEM.size, dtype=np.float32)
    law = Perturbed(PROBLEM, f"{number:032x}", 0 * ones, ones)
    baseline = tuple(np.linspace(UNIT, 0, CELLS).astype(int).tolist())
    one = Assignment(law, 1.0, (Threshold(UNIT // 4, UNIT // 2, baseline),))
    tally = MECHANISM.sample_sums(one, law.draw(rng, users), returns, rng)
    return MECHANISM.decode(tally, users, one)


@pytest.mark.parametrize("value", [-1.0, 1.1, 4.0])
def test_a_mean_return_has_no_bias(value: float) -> None:
    """Six standard errors: a correct estimate fails once in 5·10⁸; the mean bit is rejected."""
    users = 200_000
    sums = reported(1, users, np.full(users, value), np.random.default_rng(3))
    found = mean_return(MECHANISM, sums.laws)
    assert found is not None
    assert abs(found.value - value) < 6 * found.error
    assert found.error < 0.1
    assert not abs(naive(sums.laws[0]) - value) < 6 * found.error


def naive(one: LawSums) -> float:
    """Take all thresholds to be evenly spread: the mutant."""
    return -2 + 8 * float((one.ones - MECHANISM.flip * one.counts).sum()) / (
        MECHANISM.contrast * one.users
    )


def test_a_rise_is_said_once_it_is_certain() -> None:
    rng = np.random.default_rng(5)
    low, high = (rng.uniform(at, at + 1, 20_000) for at in (0.0, 3.0))
    assert searched(MECHANISM, ())["said"] == "Nobody has reported yet."
    early = reported(1, 20_000, low, rng)
    alone = searched(MECHANISM, early.laws)
    assert not alone["significant"]
    assert "at least about" in alone["said"]
    later = searched(MECHANISM, (early + reported(2, 20_000, high, rng)).laws)
    assert later["significant"]
    assert later["closed"] == pytest.approx(3 / 5.5, abs=0.15)
    unchanged = searched(MECHANISM, (early + reported(2, 20_000, low, rng)).laws)
    assert not unchanged["significant"]


def test_users_of_one_policy_are_not_compared() -> None:
    still = Perturbed(PROBLEM, "b" * 32, PROBLEM.start, 0 * PROBLEM.start)
    one = LawSums(still, Threshold(0, UNIT, (0,) * CELLS), 3, np.zeros(0, dtype=np.int64))
    assert exploring([one]) == []
