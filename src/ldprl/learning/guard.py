"""The constants of LDP-EVI's guard, and the law of what it knows of the start.

Page *What LDP-EVI promises*; :mod:`ldprl.learning.planners.guard` has the guard itself.
"""

from __future__ import annotations

from ldprl.mechanisms.mechanism import Mechanism

WATCHED = 0.002
"""Share of users who follow the optimistic policy and are asked every question in turn: a larger
one costs regret, a smaller one lets doubt last (studies/constants.md)."""
LEAST_WEIGHT = 0.1
"""Least weight, as a share of the plan's, of what they report about a state: with 1, states that
few of them reach get too much noise (studies/constants.md)."""
TOLERATED = 2.0
"""A policy may have this many times the optimistic one's doubt before it is replaced
(studies/constants.md)."""
FORGETTING = 0.02
"""c in the weight x/(1 + c·log₂(1/x))³ of reports, x the doubt as a share of the horizon. Any c > 0
keeps the bound free of K, a large one throws reports away (studies/constants.md)."""


def start_law(mechanism: Mechanism) -> tuple[float, float]:
    """Return variance and range of one report's count of a start state, minus its mean.

    The count errs by the noise of a row sum, and the start itself is a draw: 1/4 more.
    """
    laws, states = mechanism.row_laws, mechanism.shape.states
    variance = reach = 0.0
    for law, cells in ((laws.rewards, 2), (laws.transitions, states)):
        variance = max(variance, law.row_outside, law.row_inside)
        reach = max(reach, law.row_down, cells * law.up[0])
    return variance + 0.25, reach + 1
