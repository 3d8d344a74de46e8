"""What is read from the curves: ratios of regret, their spread over MDPs, and users needed."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
import pyarrow as pa

from ldprl.figures.beyond.contenders import (
    ASKING,
    CORRECTED,
    OPTIMIST,
    OPTIMIST_LAPLACE,
    REFERENCE,
    Contender,
)
from ldprl.figures.beyond.sweep import LARGER
from ldprl.figures.common.curves import Curve, curves_of, pick
from ldprl.figures.common.worlds import best_value
from ldprl.mdp.specification import mdp_from

LEAST_REGRET = 1.0
"""Less than one unit of reward in all counts as one: luck must not make a mean infinite."""
NEAR = 0.05
"""A policy is near-optimal if it loses at most this share of V*."""
MARKS = (10**6, 10**8)
"""Ratios are told after this many users, or at the end of shorter runs."""
ABLATION: dict[str, Contender | str] = {
    "LDP-OBI as printed": REFERENCE,
    "LDP-OBI, sound, noise in every cell": "ldp-obi, noise in every cell",
    "LDP-OBI, decoding by policy": CORRECTED,
    "LDP-OBI, and one question, the whole ε": ASKING,
    "LDP-EVI, noise in every cell": "ldp-evi, noise in every cell",
    "LDP-EVI, decoding by policy": OPTIMIST_LAPLACE,
    "LDP-EVI, and one question: all of it": OPTIMIST,
    "all of it but weights": "ldp-evi, unweighted",
    "… but weights, choice of questions, turning greedy": "ldp-evi, all questions alike",
    "… but the cheaper way to a question": "ldp-evi, one way to a question",
    "… but the cap on exploring": "ldp-evi, all explore",
    "… but the cap and turning greedy": "ldp-evi, all explore to the end",
}
"""The ideas one after the other, and LDP-EVI without each; a text names one of the variants."""


@dataclass(frozen=True)
class Spread:
    """Geometric mean, range, and geometric standard deviation of positive numbers."""

    mean: float
    least: float
    most: float
    factor: float


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
        Numbers of users after which ratios are told.
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

    def ratios(self, one: Contender, epsilon: float, users: int) -> list[float]:
        """Return the reference's regret at ``epsilon`` over that of ``one``, for each draw."""
        return ratios(self.of(REFERENCE, epsilon), self.of(one, epsilon), users)

    def ablation(self, epsilon: float, users: int) -> dict[str, list[float]]:
        """Return the reference's regret over that with ideas added or left out, for each draw."""
        found = {}
        for text, one in ABLATION.items():
            if isinstance(one, Contender):
                curves = self.of(one, epsilon)
            else:
                curves = pick(self.draws, learner=one, epsilon=epsilon)
            found[text] = ratios(self.of(REFERENCE, epsilon), curves, users)
        return found

    def of(self, one: Contender, epsilon: float) -> list[Curve]:
        """Return the curves of ``one`` on the draws; ε counts where it is private."""
        return one.curves(self.draws, epsilon) or one.curves(self.draws)


def ratios(more: Sequence[Curve], less: Sequence[Curve], users: int) -> list[float]:
    """Return regret over regret, for each MDP."""
    below = {curve.environment: regret_at(curve, users) for curve in less}
    return [regret_at(curve, users) / below[curve.environment] for curve in more]


def regret_at(curve: Curve, users: float) -> float:
    """Return the mean regret after so many users, but at least one unit of reward."""
    return max(float(np.interp(users, curve.episodes, curve.mean)), LEAST_REGRET)


def spread_of(values: Sequence[float]) -> Spread:
    """Return how ``values`` are spread."""
    logs = np.log(values)
    return Spread(
        float(np.exp(logs.mean())),
        min(values),
        max(values),
        float(np.exp(logs.std())),
    )


def users_needed(curve: Curve) -> float:
    """Return after how many users the policies in force are near-optimal, and stay so.

    Between two checkpoints the average user loses (R_j − R_i)/(j − i). The answer is the end of
    the last interval in which that is more than 5% of V*; infinite if it is the last of all.
    """
    most = NEAR * best(curve.environment)
    episodes = np.concatenate([[0], curve.episodes])
    losses = np.diff(curve.mean, prepend=0.0) / np.diff(episodes)
    far = np.flatnonzero(losses > most)
    if not len(far):
        return 1.0
    return math.inf if far[-1] == len(losses) - 1 else float(curve.episodes[far[-1]])


def growth(curves: Sequence[Curve]) -> float:
    """Return x in "regret after K users grows like K^x", of curves for different K.

    Not a number for fewer than two.
    """
    if len(curves) < 2:
        return math.nan
    sizes = [float(curve.episodes[-1]) for curve in curves]
    finals = [regret_at(curve, size) for curve, size in zip(curves, sizes, strict=True)]
    return float(np.polyfit(np.log(sizes), np.log(finals), 1)[0])


@cache
def best(environment: str) -> float:
    """Return V* of the MDP of that name."""
    return best_value(mdp_from(environment))
