"""The figure of sizes: from a bandit to hundreds of states.

It takes hours: a run of 10⁷ users with hundreds of states takes minutes. ``--episodes 1e5`` takes
minutes altogether; the figure ``sizes`` has the small problems alone.
"""

from __future__ import annotations

from dataclasses import replace

from ldprl.figures.gallery.large.compare import Chosen, figure_of
from ldprl.figures.gallery.large.problems import problems
from ldprl.figures.sentences import power
from ldprl.figures.settings import Settings


def chosen(settings: Settings) -> Chosen:
    """Return the cells of everybody on every problem."""
    return [(problem.title, cell) for problem in problems() for cell in problem.cells(settings)]


def lead(settings: Settings) -> str:
    """Return the introduction of the report."""
    return (
        "How far learning comes, from a bandit to hundreds of states, at ε = 2: the learners that"
        " we recommend, the same without privacy, the paper's and later ones; with at most"
        f" {power(settings.episodes)} users a run and {settings.runs} runs, fewer where one takes"
        " minutes."
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
