"""The pairs of a learner and a mechanism that are forecast, and what each learner promises."""

from __future__ import annotations

from dataclasses import dataclass


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
        return self.mechanism != "gaussian"


PREFERRED = Pair("ldp-evi", "subset-selection")
"""Recommended unless another is clearly better."""
PAIRS = (
    PREFERRED,
    *(Pair("ldp-evi", name) for name in ("laplace", "gaussian", "randomized-response")),
    Pair("ldp-ts", "subset-selection"),
    *(Pair("ldp-obi", name) for name in ("laplace", "gaussian", "randomized-response")),
    *(Pair("ldp-psrl", name) for name in ("laplace", "gaussian", "randomized-response")),
    Pair("private-ucb-vi", "laplace"),
    Pair("dp-ucbvi", "laplace"),
)
"""The pairs whose users have to trust their own device only.

Learners of the literature come with the noise that their papers analyse. Left out: bounded noise,
which at small δ has several times the Gaussian's variance for the same (ε, δ); the shuffle model,
whose gain rests on a shuffler that must be trusted; PUCB, which sees true data.
"""
OPEN = Pair("ldp-evi", "none")
"""The same learner without privacy, for comparison."""
PROMISES = {
    "ldp-evi": "its confidence set holds at all times (proved); no regret bound",
    "ldp-ts": "no proof",
    "ldp-obi": "regret bound (the paper's theorem, corrected constants)",
    "ldp-psrl": "no proof; needs the number of users in advance",
    "private-ucb-vi": "regret bound in its own paper; optimism tested here",
    "dp-ucbvi": "regret bound in its own paper; optimism tested here",
}
