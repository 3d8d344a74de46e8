"""What figure 1 varies: the learner and ε, each with the paper's constants and with sound ones."""

from __future__ import annotations

from ldprl.experiments.cells import Cell
from ldprl.figures.common.cells import baseline, private
from ldprl.figures.common.settings import BOTH_CONSTANTS, EPSILONS, Settings
from ldprl.figures.common.worlds import World, world

LEARNERS = ("ldp-obi", "ldp-psrl")
BASELINES = ("ucb-vi", "psrl")


def cells(settings: Settings) -> list[Cell]:
    """Return every curve of the figure."""
    return cells_in(settings, world())


def cells_in(settings: Settings, place: World) -> list[Cell]:
    """Return every curve of the figure as it would be in another MDP."""
    found = []
    for constants in BOTH_CONSTANTS:
        for learner in LEARNERS:
            for epsilon in EPSILONS:
                found.append(private(settings, place, learner, "laplace", epsilon, constants))
        found += [baseline(settings, place, learner, constants) for learner in BASELINES]
    return found
