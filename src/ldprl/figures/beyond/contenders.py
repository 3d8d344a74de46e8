"""Who takes part in the figure beyond the paper, and how each is named and drawn."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ldprl.catalogue import LEARNERS
from ldprl.figures.common.curves import Curve, pick
from ldprl.mechanisms.mechanism import Constants

_NAMES = {
    "ldp-obi": "LDP-OBI",
    "ldp-evi": "LDP-EVI",
    "ldp-ts": "LDP-TS",
    "private-ucb-vi": "Private-UCB-VI",
    "dp-ucbvi": "DP-UCBVI",
    "pucb": "PUCB",
    "ucb-vi": "UCB-VI",
    "ucb-vi-bernstein": "UCB-VI (Bernstein)",
    "psrl": "PSRL",
}


@dataclass(frozen=True)
class Contender:
    """Who learns, from which reports, with which constants; and a colour."""

    learner: str
    mechanism: str
    constants: Constants
    colour: str

    @property
    def name(self) -> str:
        """What tables and pictures call it; our learners are with subset selection unless said."""
        name = _NAMES[self.learner]
        if self.mechanism == "none":
            if self.learner == "pucb":
                return f"{name} (joint privacy)"
            printed = " as printed" if self.constants == "paper" else ""
            return f"{name}{printed}, no privacy"
        if self.learner.startswith("ldp-"):
            name += ", Laplace" if self.mechanism == "laplace" else ", subset selection"
        return f"{name} as printed" if self.constants == "paper" else name

    def curves(self, curves: Sequence[Curve], epsilon: float = float("inf")) -> list[Curve]:
        """Return its curves at ``epsilon``; by default those without privacy."""
        return pick(
            curves,
            learner=self.learner,
            mechanism=self.mechanism,
            constants=self.constants,
            epsilon=epsilon,
        )


REFERENCE = Contender("ldp-obi", "laplace", "paper", "#0072b2")
"""The paper's learner as printed: the others are held against it."""
OPTIMIST = Contender("ldp-evi", "subset-selection", "sound", "#d55e00")
SAMPLER = Contender("ldp-ts", "subset-selection", "sound", "#009e73")
CORRECTED = Contender("ldp-obi", "laplace", "sound", "#56b4e9")
ASKING = Contender("ldp-obi", "subset-selection", "sound", "#7a5195")
OPTIMIST_LAPLACE = Contender("ldp-evi", "laplace", "sound", "#e69f00")
SAMPLER_LAPLACE = Contender("ldp-ts", "laplace", "sound", "#7fc9a8")
_PEERS = (
    Contender("private-ucb-vi", "laplace", "sound", "#cc79a7"),
    Contender("dp-ucbvi", "laplace", "sound", "#a6557f"),
    Contender("pucb", "none", "sound", "#8c6d31"),
)
PRIVATE = (
    REFERENCE,
    CORRECTED,
    ASKING,
    *(peer for peer in _PEERS if peer.learner in LEARNERS),
    OPTIMIST_LAPLACE,
    OPTIMIST,
    SAMPLER_LAPLACE,
    SAMPLER,
)
NOISELESS = Contender("ldp-obi", "none", "sound", "#1b1b1b")
"""The paper's learner without any noise."""
UCB_VI = Contender("ucb-vi", "none", "sound", "#8a8a8a")
BERNSTEIN = Contender("ucb-vi-bernstein", "none", "sound", "#b5b5b5")
OPEN_OPTIMIST = Contender("ldp-evi", "none", "sound", "#d55e00")
OPEN_SAMPLER = Contender("ldp-ts", "none", "sound", "#009e73")
PRINTED_NOISELESS = Contender("ldp-obi", "none", "paper", "#0072b2")
OPEN = (
    PRINTED_NOISELESS,
    NOISELESS,
    UCB_VI,
    BERNSTEIN,
    Contender("psrl", "none", "sound", "#c9c9c9"),
    OPEN_OPTIMIST,
    OPEN_SAMPLER,
)
"""Those who see everything."""
WITHOUT_PRIVACY = {
    REFERENCE: PRINTED_NOISELESS,
    CORRECTED: NOISELESS,
    ASKING: NOISELESS,
    OPTIMIST_LAPLACE: OPEN_OPTIMIST,
    OPTIMIST: OPEN_OPTIMIST,
    SAMPLER_LAPLACE: OPEN_SAMPLER,
    SAMPLER: OPEN_SAMPLER,
}
"""The same learner fed with the truth."""
