"""From bits to returns: what certificates say, and that restarting them keeps the confidence."""

from __future__ import annotations

import math

import numpy as np
import pytest

from ldprl.certificates import Bits, Interval, Scale, certificate, incumbent_certificate
from ldprl.certificates.certificate import failure_of
from ldprl.certificates.sequence import difference_interval, log_evidence, mean_interval
from ldprl.errors import InputError
from ldprl.mechanisms.questions.worth import Worth
from ldprl.mechanisms.return_bits import ReturnBits
from ldprl.shape import Shape

HORIZON = 5
KEEP = float(ReturnBits(Shape(2, 2, HORIZON), 2.0).oracle(Worth()).keep)
SCALE = Scale(KEEP, HORIZON)


def drawn_bits(worth: float, users: int, rng: np.random.Generator) -> Bits:
    """Return the randomized bits of users whose mean return is ``worth``."""
    one = 1 - KEEP + (2 * KEEP - 1) * worth / HORIZON
    return Bits(users, int(rng.binomial(users, one)))


def test_a_difference_of_a_twentieth_of_the_horizon_takes_30_000_bits_at_epsilon_2() -> None:
    """Where bits are most noisy, in at least 14 of 20 runs.

    By formula the interval ends 2.3 standard deviations above 0: 99% of the runs succeed, and fewer
    than 14 do with a probability below 1e-6. Mutant: a difference of half the size is not certain.
    """
    rng = np.random.default_rng(0)

    def certain(gap: float) -> int:
        found = 0
        for _ in range(20):
            new = drawn_bits((0.5 + gap / 2) * HORIZON, 15_000, rng)
            old = drawn_bits((0.5 - gap / 2) * HORIZON, 15_000, rng)
            better = certificate(new, 1, SCALE, 0.95, old).better
            assert better is not None
            found += better.low > 0
        return found

    assert certain(0.05) >= 14
    assert certain(0.025) < 14


def test_returns_may_begin_anywhere() -> None:
    """By hand: at keep = ¾ means from ¼ to ¾ are returns from −2 to 6."""
    scale = Scale(0.75, 6.0, -2.0)
    assert scale.worth(Interval(0.25, 0.5)) == Interval(-2.0, 2.0)
    assert scale.worth(Interval(0.0, 1.0)) == Interval(-2.0, 6.0)
    assert scale.estimate(Bits(8, 5)) == 4.0
    assert scale.difference(Interval(-0.25, 0.125)) == Interval(-4.0, 2.0)
    assert scale.difference(Interval(-1.0, 1.0)) == Interval(-8.0, 8.0)


def test_intervals_are_in_units_of_the_return_and_shrink_as_answers_come() -> None:
    rng = np.random.default_rng(1)
    few, many = (
        certificate(drawn_bits(4.0, users, rng), 1, SCALE, 0.95) for users in (10**3, 10**5)
    )
    assert few.worth.low < many.worth.low < 4.0 < many.worth.high < few.worth.high <= HORIZON
    assert many.worth.high - many.worth.low < 0.1
    assert many.better is None


def test_restarting_for_each_new_policy_keeps_the_confidence() -> None:
    """500 runs that put 30 policies under certificate, one after the other.

    Type-I error below 1e-6: P(Binomial(500, 0.2) > 144) < 1e-6. The mutant spends all of α on every
    policy.
    """
    rng, users, confidence = np.random.default_rng(2), 200, 0.8
    failed, mutant = np.zeros(500, dtype=bool), np.zeros(500, dtype=bool)
    for place in range(1, 31):
        ones = np.zeros(500, dtype=np.int64)
        for now in range(10, users + 1, 10):
            ones += rng.binomial(10, 0.3, 500)
            evidence = log_evidence(now, ones, 0.3)
            failed |= evidence >= -math.log(failure_of(place, 1 - confidence))
            mutant |= evidence >= -math.log(1 - confidence)
    assert failed.sum() <= 144
    assert mutant.sum() > 1.5 * 144
    assert math.fsum(failure_of(place, 1 - confidence) for place in range(1, 1000)) < 0.2


@pytest.mark.parametrize("place", [1, 2, 3, 100])
def test_each_policy_has_its_own_share_of_the_failure(place: int) -> None:
    """α/(j(j + 1)) for the j-th one, of its worth and of its difference."""
    new, old, failure = Bits(3000, 1600), Bits(2500, 1100), 0.05 / (place * (place + 1))
    found = certificate(new, place, SCALE, 1 - 0.05, old)
    assert found.users == 3000
    assert_close(found.worth, SCALE.worth(mean_interval(new, failure)))
    assert found.better is not None
    assert_close(found.better, SCALE.difference(difference_interval(new, old, failure)))


def assert_close(one: Interval, other: Interval) -> None:
    assert (one.low, one.high) == pytest.approx((other.low, other.high), rel=1e-9)


def test_bits_become_returns_and_differences() -> None:
    """A bit is 1 with probability 1 − p + (2p − 1)·R/H."""
    scale = Scale(0.9, 2)
    assert_close(scale.worth(Interval(0.1 + 0.8 * 0.25, 0.1 + 0.8 * 0.5)), Interval(0.5, 1.0))
    assert_close(scale.worth(Interval(0.0, 1.0)), Interval(0.0, 2.0))
    assert_close(scale.difference(Interval(-0.2, 0.4)), Interval(-0.5, 1.0))
    assert_close(scale.difference(Interval(-0.9, 0.9)), Interval(-2.0, 2.0))
    assert scale.estimate(Bits(10, 5)) == pytest.approx(1.0)


def test_the_incumbent_has_all_of_the_confidence() -> None:
    bits = Bits(1000, 400)
    own, other = incumbent_certificate(bits, SCALE, 0.95), certificate(bits, 1, SCALE, 0.95)
    assert other.worth.low < own.worth.low < own.worth.high < other.worth.high
    assert_close(own.worth, SCALE.worth(mean_interval(bits, 1 - 0.95)))


@pytest.mark.parametrize(
    ("build", "field"),
    [
        (lambda: Scale(0.5, 3), "keep"),
        (lambda: Scale(0.9, 0), "largest"),
        (lambda: certificate(Bits(1, 1), 0, SCALE, 0.9), "place"),
        (lambda: certificate(Bits(1, 1), 1, SCALE, 1.0), "confidence"),
    ],
)
def test_bad_input_is_refused_by_its_field(build: object, field: str) -> None:
    with pytest.raises(InputError, match=rf"^{field} = "):
        build()  # type: ignore[operator]
