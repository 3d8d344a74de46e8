"""Has the world changed? The answers about one policy, early against late.

The bits about a policy lie in blocks, one for each plan under which it was handed out. As long as
nothing changes, all of them have one and the same mean q. With E(q) the evidence of
:mod:`ldprl.certificates.sequence`, and j the j-th place between two blocks,

    M(q) = Σ_j 1/(j(j + 1)) · E_before(q) · E_after(q)

is a martingale that starts at 1: each bit moves one factor of each product, whenever it arrives,
and the weights add up to 1. By Ville's inequality M(q) reaches 1/α at *any* time with probability α
at most. q is unknown, so each product is taken at the q where it is least; what is left is still at
most M(q). Once that reaches 1/α, the mean has changed, or something of probability α happened.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ldprl.certificates.sequence import Bits, least_evidence
from ldprl.errors import probability
from ldprl.shape import FloatArray, IntArray


@dataclass(frozen=True)
class Change:
    """A policy has become worth more, or less, to its users.

    Attributes
    ----------
    policy
        Its number among ``Evidence.policies``; None for the incumbent.
    since
        How many users there were, about, when it changed.
    before, after
        Its mean return until then and since then, as estimated from the answers.
    """

    policy: int | None
    since: int
    before: float
    after: float


def changed_at(blocks: Sequence[Bits], failure: float) -> int | None:
    """Return the first block after the likeliest change; None if it may be that there was none.

    If the mean never changes, this is ever anything else with probability ``failure`` at most,
    however often one looks while blocks and bits are added.
    """
    probability("failure", failure, zero=False)
    users, ones = np.array([(one.users, one.ones) for one in blocks]).reshape(-1, 2).T
    found = split_evidence(users, ones)
    if len(found) == 0 or np.logaddexp.reduce(found) < -math.log(failure):
        return None
    return int(found.argmax()) + 1


def split_evidence(users: IntArray, ones: IntArray) -> FloatArray:
    """Return ln of each term of M, at the q where it is least; blocks lie along the last axis."""
    before, ones_before = (np.cumsum(it, axis=-1)[..., :-1] for it in (users, ones))
    after = users.sum(axis=-1, keepdims=True) - before
    ones_after = ones.sum(axis=-1, keepdims=True) - ones_before

    least = least_evidence((before, ones_before), (after, ones_after), np.zeros(before.shape))
    places = np.arange(1.0, before.shape[-1] + 1)
    result: FloatArray = least - np.log(places * (places + 1))
    return result
