"""What the hard instance varies: K (which sets how hard it is), ε and the learner."""

from __future__ import annotations

from dataclasses import dataclass, replace

from ldprl.experiments.cells import Cell
from ldprl.figures.common.cells import baseline, private
from ldprl.figures.common.settings import BOTH_CONSTANTS, Settings
from ldprl.figures.common.worlds import World
from ldprl.mdp import HardTree, hard_tree

STATES, ACTIONS, HORIZON = 5, 2, 6
"""The smallest tree with a choice above the leaves, and the least H that the theorem takes."""
EPSILONS = (0.2, 2.0)
LEARNERS = ("ldp-obi", "ldp-psrl")
FEWEST = 10**4


@dataclass(frozen=True)
class Point:
    """One instance, made for ``episodes`` users and ε."""

    episodes: int
    epsilon: float
    tree: HardTree
    world: World


def points(settings: Settings) -> list[Point]:
    """Return an instance for each ε and each power of ten up to the number of episodes.

    The better pair is the last: learners break ties in favour of the first, and the theorem is
    about the worst place.
    """
    sizes = [10**size for size in range(13) if FEWEST <= 10**size < settings.episodes]
    found = []
    for epsilon in EPSILONS:
        for episodes in (*sizes, settings.episodes):
            tree = hard_tree(STATES, ACTIONS, HORIZON, episodes, epsilon, leaf=1, action=1)
            name = f"hard-tree:{STATES},{ACTIONS},{HORIZON},{episodes},{epsilon:g}, last pair"
            found.append(Point(episodes, epsilon, tree, World(name, tree.mdp)))
    return found


def cells_at(settings: Settings, point: Point) -> list[Cell]:
    """Return what is simulated on one instance."""
    here = replace(settings, episodes=point.episodes)
    return [
        *(
            private(here, point.world, learner, "laplace", point.epsilon, constants)
            for constants in BOTH_CONSTANTS
            for learner in LEARNERS
        ),
        baseline(here, point.world, "ucb-vi", "sound"),
    ]


def cells(settings: Settings) -> list[Cell]:
    """Return what is simulated on all instances."""
    return [cell for point in points(settings) for cell in cells_at(settings, point)]
