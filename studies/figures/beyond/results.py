"""Who takes part, and the curves and ratios of regret that the other modules read."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from ldprl.catalogue import LEARNERS
from ldprl.experiments.cells import Cell
from ldprl.figures.cells import NamedMDP, cell_of
from ldprl.figures.curves import Curve, curves_of, pick
from ldprl.figures.numerals import number
from ldprl.figures.settings import Settings
from ldprl.mechanisms.mechanism import Constants
from ldprl.shape import FloatArray

LEAST_REGRET = 1.0
"""Regret below one unit of reward counts as one: luck must not make a mean infinite."""
MARKS = (10**6, 10**8)
"""Users after which ratios are given; shorter runs give them at their end."""
LARGER = {
    "riverswim:6,20": "RiverSwim, 6 states, 20 steps",
    "grid:5,5,10": "Grid world 5×5, 10 steps",
    "random:10,3,5,0": "RandomMDP, 10 states, 3 actions, 5 steps",
}
"""The larger problems, and what to call them."""


@dataclass(frozen=True)
class Contender:
    """A learner, its mechanism, its constants, and a colour."""

    learner: str
    mechanism: str
    constants: Constants
    colour: str

    @property
    def name(self) -> str:
        """What tables and pictures call it."""
        name = LEARNERS.find(self.learner).title
        if self.mechanism == "none":
            if LEARNERS.find(self.learner).needs_central_trust:
                return f"{name} (joint privacy)"
            printed = " as printed" if self.constants == "paper" else ""
            return f"{name}{printed}, no privacy"
        if self.learner.startswith("ldp-"):
            name += ", Laplace" if self.mechanism == "laplace" else ", subset selection"
        return f"{name} as printed" if self.constants == "paper" else name

    def cell(self, settings: Settings, at: NamedMDP, epsilon: float) -> Cell:
        """Return its simulation at ``epsilon``."""
        return cell_of(settings, at, self.learner, self.constants, self.mechanism, epsilon)

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
"""The paper's learner as printed: the others are compared with it."""
OPTIMIST = Contender("ldp-evi", "subset-selection", "sound", "#d55e00")
SAMPLER = Contender("ldp-ts", "subset-selection", "sound", "#009e73")
CORRECTED = Contender("ldp-obi", "laplace", "sound", "#56b4e9")
ASKING = Contender("ldp-obi", "subset-selection", "sound", "#7a5195")
OPTIMIST_LAPLACE = Contender("ldp-evi", "laplace", "sound", "#e69f00")
SAMPLER_LAPLACE = Contender("ldp-ts", "laplace", "sound", "#7fc9a8")
_PEERS = (
    Contender("studies.rivals:PrivateUCBVI", "laplace", "sound", "#cc79a7"),
    Contender("studies.rivals:DPUCBVI", "laplace", "sound", "#a6557f"),
    Contender("studies.rivals:PUCB", "none", "sound", "#8c6d31"),
)
PRIVATE = (
    REFERENCE,
    CORRECTED,
    ASKING,
    *_PEERS,
    OPTIMIST_LAPLACE,
    OPTIMIST,
    SAMPLER_LAPLACE,
    SAMPLER,
)
NOISELESS = Contender("ldp-obi", "none", "sound", "#1b1b1b")
"""The paper's learner without any noise."""
UCB_VI = Contender("ucb-vi", "none", "sound", "#8a8a8a")
BERNSTEIN = Contender("ucb-vi-bernstein", "none", "sound", "#b5b5b5")
SEEING_ALL = (NOISELESS, UCB_VI)
"""Those without privacy that pictures show."""
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


@dataclass(frozen=True)
class Spread:
    """Geometric mean, range, and geometric standard deviation of positive numbers."""

    mean: float
    least: float
    most: float
    factor: float

    def __str__(self) -> str:
        numbers = [number(value) for value in (self.mean, self.least, self.most, self.factor)]
        return "{} ({} – {}; ×{})".format(*numbers)


class Results:
    """The curves of the figure, sorted by what they are for.

    Attributes
    ----------
    draws, larger, tree
        Curves on the draws of RandomMDP(2, 2, 2), on the larger problems, and on the lower
        bound's tree.
    epsilons
        The ε that were looked at, ascending.
    marks
        Numbers of users after which ratios are given.
    """

    def __init__(self, table: pa.Table) -> None:
        self.draws: list[Curve] = []
        self.larger: list[Curve] = []
        self.tree: list[Curve] = []
        for curve in curves_of(table):
            if curve.environment in LARGER:
                self.larger.append(curve)
            elif curve.environment.startswith("hard-tree"):
                self.tree.append(curve)
            else:
                self.draws.append(curve)
        private = {curve.epsilon for curve in self.draws if math.isfinite(curve.epsilon)}
        self.epsilons = sorted(private)
        self.episodes = int(self.draws[0].episodes[-1])
        self.marks = [mark for mark in MARKS if mark <= self.episodes] or [self.episodes]

    @property
    def shown(self) -> float:
        """The ε of the headline: 2, or the one nearest to it."""
        return min(self.epsilons, key=lambda epsilon: abs(math.log(epsilon / 2)))

    @property
    def heads(self) -> list[str]:
        """The head of each column of a table with one column for each ε."""
        return [f"ε = {epsilon:g}" for epsilon in self.epsilons]

    def ratios(self, one: Contender, epsilon: float, users: int) -> list[float]:
        """Return the reference's regret at ``epsilon`` over that of ``one``, for each draw."""
        return ratios(self.of(REFERENCE, epsilon), self.of(one, epsilon), users)

    def of(self, one: Contender, epsilon: float) -> list[Curve]:
        """Return the curves of ``one`` on the draws; ε counts where it is private."""
        return one.curves(self.draws, epsilon) or one.curves(self.draws)


def ratios(more: Sequence[Curve], less: Sequence[Curve], users: int) -> list[float]:
    """Return regret over regret, for each MDP."""
    below = {curve.environment: regret_at(curve, users) for curve in less}
    return [regret_at(curve, users) / below[curve.environment] for curve in more]


def regret_at(curve: Curve, users: float) -> float:
    """Return the mean regret after ``users`` users, and at least one unit of reward."""
    return max(float(np.interp(users, curve.episodes, curve.mean)), LEAST_REGRET)


def spread_of(values: Sequence[float]) -> Spread:
    """Return how ``values`` are spread."""
    logs = np.log(values)
    mean = float(geometric_mean(np.asarray(values, dtype=np.float64)))
    return Spread(mean, min(values), max(values), float(np.exp(logs.std())))


def geometric_mean(values: FloatArray) -> FloatArray:
    """Return the geometric mean over the first axis.

    Rounding must not put the mean of equal numbers beside them: a logarithmic axis cannot show a
    range of 10⁻¹⁶.
    """
    mean = np.exp(np.log(values).mean(axis=0))
    return np.asarray(np.clip(mean, values.min(axis=0), values.max(axis=0)))
