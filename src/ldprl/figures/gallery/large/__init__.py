"""The figure of sizes: from a bandit to hundreds of states.

It takes about twenty minutes of one core; ``--runs 1000`` gives the bandits 1,000 runs, and takes
longer. The figure ``sizes`` has the small problems alone.
"""

from __future__ import annotations

from dataclasses import replace

from ldprl.figures.gallery.large.compare import Chosen, figure_of
from ldprl.figures.gallery.large.problems import EPSILON, problems
from ldprl.figures.sentences import power
from ldprl.figures.settings import Settings


def chosen(settings: Settings) -> Chosen:
    """Return the cells of everybody on every problem."""
    return [(problem.title, cell) for problem in problems() for cell in problem.cells(settings)]


def lead(settings: Settings) -> str:
    """Return the introduction of the report."""
    return (
        "How far learning comes, from a bandit to hundreds of states: the learners that we"
        f" recommend, the same without privacy, and the paper's and later ones at ε = {EPSILON:g};"
        f" with at most {power(settings.episodes)} users a run and {settings.runs} runs, fewer"
        " where one takes minutes."
    )


FIGURE = replace(
    figure_of(
        "From a bandit to hundreds of states",
        "At which sizes is something learnt under ε-LDP, and with how many users?",
        chosen,
    ),
    lead=lead,
    runs=10,
)
