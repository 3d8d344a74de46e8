"""The pairs of a learner and a mechanism that are forecast: the learners name them."""

from __future__ import annotations

from dataclasses import dataclass

from ldprl.catalogue import LEARNERS
from ldprl.mechanisms.catalogue import MECHANISMS


@dataclass(frozen=True)
class Pair:
    """A learner and the mechanism that feeds it, by their names in the catalogue."""

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


PREFERRED = Pair("ldp-evi", "subset-selection")
"""Recommended unless another is clearly better."""
PAIRS = tuple(
    sorted(
        (Pair(name, other) for name, kind in LEARNERS.items() for other in kind.forecast_with),
        key=lambda pair: pair != PREFERRED,
    )
)
"""The pairs whose users have to trust their own device only, the preferred one first.

Learners of the literature come with the noise that their papers analyse. Left out: bounded noise,
which at small δ has several times the Gaussian's variance for the same (ε, δ); the shuffle model,
whose gain rests on a shuffler that must be trusted; PUCB, which sees true data.
"""
OPEN = Pair("ldp-evi", "none")
"""The same learner without privacy, for comparison."""
