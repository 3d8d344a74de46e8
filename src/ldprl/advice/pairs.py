"""The pairs of a learner and a mechanism that are forecast: the learners name them."""

from __future__ import annotations

from dataclasses import dataclass

from ldprl.catalogue import LEARNERS, recommended
from ldprl.errors import InputError
from ldprl.mechanisms.catalogue import MECHANISMS
from ldprl.shape import Shape


@dataclass(frozen=True)
class Pair:
    """A learner and the mechanism that feeds it: names in the catalogue, or ``module:Class``."""

    learner: str
    mechanism: str

    def __str__(self) -> str:
        return f"{self.learner} with {self.mechanism}"

    @property
    def pure(self) -> bool:
        """Whether users have ε-LDP with δ = 0."""
        return "delta" not in MECHANISMS.find(self.mechanism).parameters()

    @property
    def promise(self) -> str:
        """What is known of the learner's regret."""
        return LEARNERS.find(self.learner).promise

    @property
    def by_user(self) -> bool:
        """Whether every user is simulated, so that time grows with their number.

        Users with a table each cannot be drawn as sums.
        """
        return LEARNERS.find(self.learner).reads == "effects"


PAIRS = tuple(
    Pair(name, other)
    for name, kind in LEARNERS.items()
    for other in vars(kind).get("forecast_with", ())
)
"""The pairs whose users have to trust their own device only.

A class names them itself; a variant that inherits from it does not. Learners of the literature
come with Laplace noise, which their papers analyse. Left out: randomized response of every counter,
which subset selection replaces; bounded noise, which at small δ has several times the Gaussian's
variance for the same (ε, δ); the shuffle model, whose gain rests on a shuffler that must be
trusted; PUCB, which sees true data.
"""
OPEN = Pair("ldp-evi", "none")
"""A learner without privacy, for comparison."""


def preferred(shape: Shape) -> Pair:
    """Return the pair that is recommended unless another is clearly better."""
    learner = recommended(shape)
    return Pair(learner, LEARNERS.find(learner).usual_mechanism)


def pair_of(learner: str | None, mechanism: str | None, shape: Shape) -> Pair:
    """Return the pair that a caller names in full or in half."""
    if learner is None:
        reads = MECHANISMS.find(mechanism or "").fills
        fitting = [pair.learner for pair in (preferred(shape), *PAIRS)]
        learner = next(name for name in fitting if LEARNERS.find(name).reads == reads)
    kind = LEARNERS.find(learner)
    pair = Pair(learner, mechanism or kind.usual_mechanism)
    if kind.needs_central_trust or not kind.private or not MECHANISMS.find(pair.mechanism).private:
        raise InputError("learner", str(pair), "a pair with local privacy")
    return pair
