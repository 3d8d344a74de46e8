"""The figure beyond the paper: its learner beside ours, on draws, larger problems and the tree."""

from __future__ import annotations

import pyarrow as pa
from matplotlib.figure import Figure as Picture

from ldprl.experiments.cells import Cell
from ldprl.figures.cells import NamedMDP, cell_of, first_draws
from ldprl.figures.figure import Figure, Findings
from ldprl.figures.numerals import power
from ldprl.figures.settings import Settings
from ldprl.worlds.specification import mdp_from
from studies.figures.beyond import ablation, aims, headline, larger, price, tree
from studies.figures.beyond.results import LARGER, OPEN, PRIVATE, Results


def cells(settings: Settings) -> list[Cell]:
    """Return all simulations."""
    places = [*first_draws(settings), *(NamedMDP(name, mdp_from(name)) for name in LARGER)]
    return [
        *(cell for place in places for cell in cells_in(settings, place)),
        *ablation.ablation_cells(settings),
        *tree.tree_cells(settings),
    ]


def cells_in(settings: Settings, place: NamedMDP) -> list[Cell]:
    """Return every learner's cells in one MDP."""
    return [
        *(cell_of(settings, place, one.learner, one.constants) for one in OPEN),
        *(one.cell(settings, place, epsilon) for one in PRIVATE for epsilon in settings.epsilons),
    ]


def findings(table: pa.Table) -> Findings:
    """Return the report's sentences and tables."""
    results = Results(table)
    sentences = [
        headline.less_regret(results),
        aims.aims(results),
        headline.beside_those_who_see_all(results),
        price.price(results),
        price.users(results),
        tree.tree(results),
        headline.privacy(results),
        headline.luck(results),
    ]
    grids = [
        aims.aims_grid(results),
        *(headline.ratio_grid(results, mark) for mark in results.marks),
        larger.larger_grid(results),
        price.price_grid(results),
        price.users_grid(results),
        ablation.ablation_grid(results),
        tree.tree_grid(results),
    ]
    return Findings(sentences, grids)


def plot(table: pa.Table) -> dict[str, Picture]:
    """Return the main picture and those behind it."""
    results = Results(table)
    left_out = {"ablation": ablation.ablation_picture(results)} if ablation.ablated(results) else {}
    return {
        "": headline.main_picture(results),
        "epsilons": headline.every_epsilon(results),
        "larger": larger.larger(results),
        "price": price.price_picture(results),
        "users": price.users_picture(results),
        **left_out,
        "tree": tree.tree_picture(results),
    }


def lead(settings: Settings) -> str:
    """Return the introduction of the report."""
    return (
        "With the learners and randomizers of Garcelon, Perchet, Pike-Burke and Pirotta (2021),"
        " regret under local privacy is still nearly linear after a million users. Here they are"
        " compared with learners that know what the service knows, fed by reports that spend all of"
        f" ε on one question; with {power(settings.episodes)} users in each run and"
        f" {settings.runs} runs of each curve."
    )


FIGURE = Figure(
    title="Beyond the paper",
    place="Not in the paper",
    question="How much less regret is there for the same ε, and what is still not reached?",
    cells=cells,
    plot=plot,
    findings=findings,
    lead=lead,
    options=frozenset({"draws", "epsilons"}),
    runs=1,
)
