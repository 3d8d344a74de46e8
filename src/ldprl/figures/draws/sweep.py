"""What the figure on draws varies: the MDP, with all that figures 1 and 2 vary."""

from __future__ import annotations

import itertools

from ldprl.experiments.cells import Cell
from ldprl.figures.common.settings import Settings
from ldprl.figures.common.worlds import World, worlds
from ldprl.figures.mechanisms.sweep import cells_in as mechanism_cells
from ldprl.figures.regret.sweep import cells_in as regret_cells


def places(settings: Settings) -> list[World]:
    """Return the MDPs: the first draws with something to learn."""
    return list(itertools.islice(worlds(), settings.draws))


def cells_in(settings: Settings, place: World) -> list[Cell]:
    """Return what is simulated in one MDP, each cell once."""
    both = regret_cells(settings, place) + mechanism_cells(settings, place)
    return list({cell.identity: cell for cell in both}.values())


def cells(settings: Settings) -> list[Cell]:
    """Return what is simulated in all MDPs."""
    return [cell for place in places(settings) for cell in cells_in(settings, place)]
