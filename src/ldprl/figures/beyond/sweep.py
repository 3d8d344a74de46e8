"""What the figure beyond the paper varies: who learns, ε, and in which MDP."""

from __future__ import annotations

import itertools
from dataclasses import replace

from ldprl.experiments.cells import Cell
from ldprl.figures.beyond.ablation import VARIANTS, Variant
from ldprl.figures.beyond.contenders import (
    ASKING,
    OPEN,
    OPTIMIST,
    PRIVATE,
    REFERENCE,
    SAMPLER,
    Contender,
)
from ldprl.figures.common.cells import baseline, private
from ldprl.figures.common.settings import EPSILONS, Settings
from ldprl.figures.common.worlds import World, worlds
from ldprl.figures.hard_instance.sweep import points
from ldprl.mdp.specification import mdp_from

LARGER = {
    "riverswim:6,20": "RiverSwim, 6 states, 20 steps",
    "grid:5,5,10": "Grid world 5×5, 10 steps",
    "random:10,3,5,0": "RandomMDP, 10 states, 3 actions, 5 steps",
}
"""The larger problems, and what to call them."""
ON_THE_TREE = (REFERENCE, ASKING, OPTIMIST, SAMPLER)


def draws(settings: Settings) -> list[World]:
    """Return the first draws of RandomMDP(2, 2, 2) with something to learn."""
    return list(itertools.islice(worlds(), settings.draws))


def cells(settings: Settings) -> list[Cell]:
    """Return all that is simulated."""
    larger = [World(name, mdp_from(name)) for name in LARGER]
    everywhere = draws(settings) + larger
    found = [cell for place in everywhere for cell in cells_in(settings, place)]
    return found + ablation_cells(settings) + tree_cells(settings)


def cells_in(settings: Settings, place: World) -> list[Cell]:
    """Return every learner's cells in one MDP."""
    return [
        *(baseline(settings, place, one.learner, one.constants) for one in OPEN),
        *(cell_of(settings, place, one, e) for one in PRIVATE for e in settings.epsilons),
    ]


def ablation_cells(settings: Settings) -> list[Cell]:
    """Return LDP-OBI and LDP-EVI with something left out, at the paper's ε."""
    found: list[Cell] = []
    for place in draws(settings):
        for epsilon in (e for e in settings.epsilons if e in EPSILONS):
            whole = cell_of(settings, place, OPTIMIST, epsilon).parameters
            for name, (mechanism, _) in VARIANTS.items():
                changed = {**whole, "learner": name, "mechanism": mechanism}
                found.append(Variant(**changed, mdp=place.mdp))
    return found


def tree_cells(settings: Settings) -> list[Cell]:
    """Return the lower bound's tree, made anew for every K."""
    return [
        cell_of(replace(settings, episodes=point.episodes), point.world, one, point.epsilon)
        for point in points(settings)
        for one in ON_THE_TREE
    ]


def cell_of(settings: Settings, place: World, one: Contender, epsilon: float) -> Cell:
    """Return the cell of a private contender."""
    return private(settings, place, one.learner, one.mechanism, epsilon, one.constants)
