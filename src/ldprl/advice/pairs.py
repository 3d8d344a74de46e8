"""The pairs of a learner and a mechanism that are forecast: the learners name them."""

from __future__ import annotations

from ldprl.catalogue import LEARNERS, Pair, recommended_learner
from ldprl.errors import InputError
from ldprl.mechanisms.by_name import MECHANISMS
from ldprl.shape import Shape

PAIRS = tuple(
    Pair(name, other)
    for name, kind in LEARNERS.items()
    for other in vars(kind).get("forecast_with", ())
)
"""The pairs whose users have to trust their own device only.

A class names them itself; a variant that inherits from it does not. The paper's learners come with
Laplace noise, which it analyses. Left out: randomized response of every counter,
which subset selection replaces; bounded noise, which at small δ has several times the Gaussian's
variance for the same (ε, δ); the shuffle model, whose gain rests on a shuffler that must be
trusted.
"""
OPEN = Pair("ldp-evi", "none")
"""A learner without privacy, for comparison."""


def preferred(shape: Shape, epsilon: float | None, users: int | None = None) -> Pair:
    """Return the pair that is recommended unless another is clearly better."""
    learner = recommended_learner(shape, epsilon, users)
    return Pair(learner, LEARNERS.find(learner).usual_mechanism)


def compared(shape: Shape, epsilon: float | None, users: int | None = None) -> tuple[Pair, ...]:
    """Return the pairs to compare: those that learners name, and the preferred one."""
    usual = preferred(shape, epsilon, users)
    return PAIRS if usual in PAIRS else (usual, *PAIRS)


def pair_of(
    learner: str | None,
    mechanism: str | None,
    shape: Shape,
    epsilon: float | None,
    users: int | None = None,
) -> Pair:
    """Return the pair that a caller names in full or in half."""
    if learner is None:
        reads = MECHANISMS.find(mechanism or "").statistics_kind
        fitting = [pair.learner for pair in (preferred(shape, epsilon, users), *PAIRS)]
        learner = next(name for name in fitting if LEARNERS.find(name).statistics_kind == reads)
    kind = LEARNERS.find(learner)
    pair = Pair(learner, mechanism or kind.usual_mechanism)
    if kind.needs_central_trust or not kind.private or not MECHANISMS.find(pair.mechanism).private:
        raise InputError("learner", str(pair), "a pair with local privacy")
    return pair
