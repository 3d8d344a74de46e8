"""From two states to a hundred, in a minute: some problems of the figure ``large``."""

from __future__ import annotations

from dataclasses import replace

from ldprl.figures.gallery.large.compare import Chosen, figure_of
from ldprl.figures.gallery.large.problems import problems
from ldprl.figures.settings import Settings

_USERS, _RUNS = 10**6, 3
_SHOWN = (
    "Random 2×2×2",
    "RiverSwim",
    "Random 10×3×5",
    "grid 5×5",
    "Random 25×4×10",
    "Random 100×4×10",
)


def chosen(settings: Settings) -> Chosen:
    """Return the recommended learner, the paper's, and LDP-EVI without privacy."""
    small = [problem.reduced(_USERS, _RUNS) for problem in problems() if problem.title in _SHOWN]
    return [
        (problem.title, cell)
        for problem in small
        for cell in problem.cells(settings, everybody=False)
    ]


FIGURE = replace(
    figure_of(
        "From two states to a hundred",
        "How far do the learners that we recommend come where problems are larger?",
        chosen,
    ),
    chapter=9,
)
