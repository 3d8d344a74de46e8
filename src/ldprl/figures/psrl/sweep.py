"""What LDP-PSRL's own figure varies: ε, with PSRL beside it."""

from __future__ import annotations

from ldprl.experiments.cells import Cell
from ldprl.figures.common.cells import baseline, private
from ldprl.figures.common.settings import BOTH_CONSTANTS, EPSILONS, Settings
from ldprl.figures.common.worlds import world


def cells(settings: Settings) -> list[Cell]:
    """Return every curve of the figure."""
    place = world()
    found = []
    for constants in BOTH_CONSTANTS:
        for epsilon in EPSILONS:
            found.append(private(settings, place, "ldp-psrl", "laplace", epsilon, constants))
        found.append(baseline(settings, place, "psrl", constants))
    return found
