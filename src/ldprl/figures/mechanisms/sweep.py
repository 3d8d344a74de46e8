"""What the comparison varies: the mechanism under LDP-OBI, and ε."""

from __future__ import annotations

from ldprl.experiments.cells import Cell
from ldprl.figures.common.cells import private
from ldprl.figures.common.settings import BOTH_CONSTANTS, EPSILONS, Settings
from ldprl.figures.common.worlds import World, world

MECHANISMS = ("laplace", "gaussian", "randomized-response", "bounded-noise")


def cells(settings: Settings) -> list[Cell]:
    """Return every curve of the figures."""
    return cells_in(settings, world())


def cells_in(settings: Settings, place: World) -> list[Cell]:
    """Return every curve of the figures as it would be in another MDP."""
    return [
        private(settings, place, "ldp-obi", mechanism, epsilon, constants)
        for constants in BOTH_CONSTANTS
        for epsilon in EPSILONS
        for mechanism in MECHANISMS
    ]
