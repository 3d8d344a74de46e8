"""From two states to a hundred, in a minute."""

from __future__ import annotations

from dataclasses import replace

from ldprl.catalogue import recommended_learner
from ldprl.figures.cells import NamedMDP, cell_of
from ldprl.figures.gallery.sizes.compare import EPSILON, REPLAN, Chosen, figure_of, private_cell
from ldprl.figures.settings import Settings
from ldprl.worlds.specification import mdp_from

_USERS, _RUNS = 10**6, 3
_PROBLEMS = {
    "Random 2×2×2": "random:2,2,2,0",
    "RiverSwim": "riverswim:6,20",
    "Random 10×3×5": "random:10,3,5,0",
    "grid 5×5": "grid:5,5,10",
    "Random 25×4×10": "random:25,4,10,0",
    "Random 100×4×10": "random:100,4,10,0",
}


def chosen(settings: Settings) -> Chosen:
    """Return the recommended learner, the paper's, and LDP-EVI without privacy."""
    users, runs = min(_USERS, settings.episodes), min(_RUNS, settings.runs)
    found = []
    for title, name in _PROBLEMS.items():
        at = NamedMDP(name, mdp_from(name))
        cells = (
            private_cell(settings, at, recommended_learner(at.mdp.shape, EPSILON), EPSILON),
            private_cell(settings, at, "ldp-obi", EPSILON),
            cell_of(settings, at, "ldp-evi", "sound"),
        )
        found += [
            (title, replace(cell, episodes=users, runs=runs, replan=REPLAN)) for cell in cells
        ]
    return found


FIGURE = replace(
    figure_of(
        "From two states to a hundred",
        "How far do the learners that we recommend come where problems are larger?",
        chosen,
    ),
    chapter=9,
)
