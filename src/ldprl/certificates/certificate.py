"""Certificates: what users' return bits say of a policy, without trust in any model."""

from __future__ import annotations

from dataclasses import dataclass

from ldprl.certificates.sequence import Bits, Interval, difference_interval, mean_interval
from ldprl.errors import InputError, probability, whole_number


@dataclass(frozen=True)
class Scale:
    """How the mean of randomized bits and the mean return belong together.

    Attributes
    ----------
    keep
        Probability that randomized response keeps a bit as it is.
    largest, least
        The range of returns R: the bit is 1 with probability (R − least)/(largest − least).
    """

    keep: float
    largest: float
    least: float = 0.0

    def __post_init__(self) -> None:
        if not 0.5 < self.keep <= 1:
            raise InputError("keep", self.keep, "a number above 1/2, at most 1")
        if not self.largest > self.least:
            raise InputError("largest", self.largest, f"a number above {self.least:g}")

    def worth(self, mean: Interval) -> Interval:
        """Return the mean returns at which bits have these means."""
        ends = ((end - (1 - self.keep)) / (2 * self.keep - 1) for end in (mean.low, mean.high))
        width = self.largest - self.least
        low, high = (self.least + width * min(max(end, 0.0), 1.0) for end in ends)
        return Interval(low, high)

    def estimate(self, bits: Bits) -> float:
        """Return the mean return, cut to its range, at which bits have the mean of ``bits``."""
        return self.worth(Interval(bits.mean, bits.mean)).low

    def difference(self, mean: Interval) -> Interval:
        """Return the differences of returns that belong to these differences of the bits' means."""
        ends = (end / (2 * self.keep - 1) for end in (mean.low, mean.high))
        width = self.largest - self.least
        low, high = (width * min(max(end, -1.0), 1.0) for end in ends)
        return Interval(low, high)


@dataclass(frozen=True)
class Certificate:
    """What return bits say of one policy.

    Each interval holds with the stated confidence at all times at once, however often it is looked
    at, and for all the policies that were ever certified. It is about the mean, over the users who
    were given the policy and answered, of the return that each could expect.

    Attributes
    ----------
    users
        How many users of this policy have answered.
    worth
        The policy's mean return.
    better
        The same minus the incumbent's; None without an incumbent.
    """

    users: int
    worth: Interval
    better: Interval | None = None


def failure_of(place: int, failure: float) -> float:
    """Return the failure probability of the statements about the ``place``-th policy, from 1.

    α/(j(j + 1)), j the place and α = ``failure``: over all policies that adds up to α, however
    many there will be and whatever made the learner choose them.
    """
    return failure / (whole_number("place", place, 1) * (place + 1))


def certificate(
    bits: Bits, place: int, scale: Scale, confidence: float, incumbent: Bits | None = None
) -> Certificate:
    """Return the certificate of the ``place``-th policy, from 1, that was ever certified."""
    failure = failure_of(place, 1 - probability("confidence", confidence, zero=False))
    worth = scale.worth(mean_interval(bits, failure))
    if incumbent is None:
        return Certificate(bits.users, worth)
    better = scale.difference(difference_interval(bits, incumbent, failure))
    return Certificate(bits.users, worth, better)


def incumbent_certificate(bits: Bits, scale: Scale, confidence: float) -> Certificate:
    """Return the certificate of the incumbent, which is never replaced."""
    failure = 1 - probability("confidence", confidence, zero=False)
    return Certificate(bits.users, scale.worth(mean_interval(bits, failure)))
