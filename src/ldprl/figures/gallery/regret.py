"""Figure 1: what local privacy costs an optimistic learner and a sampling one."""

from __future__ import annotations

import pyarrow as pa
from matplotlib.figure import Figure as Picture

from ldprl.catalogue import LEARNERS
from ldprl.experiments.cells import Cell
from ldprl.figures.cells import NamedMDP, cell_of, first_draw
from ldprl.figures.curves import Curve, curves_of, pick, private_epsilons
from ldprl.figures.drawing import draw_bands, headline, learner_look, panels
from ldprl.figures.figure import Figure, Findings, Grid
from ldprl.figures.numerals import at_epsilons, mean_and_range, numbers
from ldprl.figures.settings import BOTH_CONSTANTS, CONSTANTS, Settings

OURS = ("ldp-evi", "ldp-ts")
"""Learners beyond the paper that are shown beside its own, with sound constants."""


def cells(settings: Settings) -> list[Cell]:
    """Return every curve of the figure."""
    draw = first_draw(settings.states)
    ours = [
        cell_of(settings, draw, learner, "sound", LEARNERS[learner].usual_mechanism, epsilon)
        for learner in OURS
        for epsilon in settings.epsilons
    ]
    return [*cells_in(settings, draw), *ours]


def cells_in(settings: Settings, at: NamedMDP) -> list[Cell]:
    """Return the learners at each ε, with the paper's constants and with sound ones."""
    found = []
    for constants in BOTH_CONSTANTS:
        for learner in ("ldp-obi", "ldp-psrl"):
            for epsilon in settings.epsilons:
                found.append(cell_of(settings, at, learner, constants, "laplace", epsilon))
        found += [cell_of(settings, at, learner, constants) for learner in ("ucb-vi", "psrl")]
    return found


def findings(table: pa.Table) -> Findings:
    """Return what the report says, and the regrets behind it."""
    curves = curves_of(table)
    paper = pick(curves, constants="paper")
    optimist = pick(paper, learner="ldp-obi")
    sampler = pick(paper, learner="ldp-psrl")
    return Findings([sampling_against_optimism(optimist, sampler)], [final_regrets(curves)])


def sampling_against_optimism(optimist: list[Curve], sampler: list[Curve]) -> str:
    """Say whether LDP-PSRL "performs slightly better than" LDP-OBI."""
    ratios = [one.final / other.final for one, other in zip(optimist, sampler, strict=True)]
    epsilons = [curve.epsilon for curve in sampler]
    lost = [epsilon for epsilon, ratio in zip(epsilons, ratios, strict=True) if ratio <= 1]
    if lost:
        verdict = f"does not hold at {at_epsilons(lost)}"
    else:
        verdict = "holds, and says too little" if max(ratios) > 2 else "holds"
    return (
        f"LDP-OBI has {numbers(ratios)} times the regret of LDP-PSRL at {at_epsilons(epsilons)}:"
        f" the paper's “LDP-PSRL performs slightly better” {verdict}."
    )


def final_regrets(curves: list[Curve]) -> Grid:
    """Return the regret after the last episode, of every curve."""
    rows = [
        (
            LEARNERS[curve.learner].title,
            "none" if curve.mechanism == "none" else f"{curve.epsilon:g}",
            CONSTANTS[curve.constants],
            *mean_and_range(curve),
            f"{curve.exponent:.2f}",
        )
        for curve in curves
    ]
    heads = ("learner", "ε", "constants", "mean", "least", "most", "grows at last like k to the")
    return Grid("Regret after the last episode", heads, rows)


def plot(table: pa.Table) -> dict[str, Picture]:
    """Return a picture for the paper's constants and one for sound ones."""
    curves = curves_of(table)
    return {name: _picture(pick(curves, constants=name), name) for name in CONSTANTS}


def _picture(curves: list[Curve], constants: str) -> Picture:
    """Draw a column for each ε: cumulative regret above, regret per episode below."""
    epsilons = private_epsilons(curves)
    picture, axes = panels(2, len(epsilons))
    for column, epsilon in enumerate(epsilons):
        shown = [curve for curve in curves if curve.epsilon in (epsilon, float("inf"))]
        for row, per_step in enumerate((False, True)):
            draw_bands(axes[row][column], shown, learner_look, per_step=per_step)
        axes[0][column].set_title(f"ε = {epsilon:g}")
        axes[1][column].set_xlabel("episodes k")
    axes[0][0].set_ylabel("cumulative regret $R_k$")
    axes[1][0].set_ylabel("regret per episode $R_k/k$")
    ours = " (LDP-EVI and LDP-TS: subset selection)" if constants == "sound" else ""
    headline(picture, f"Regret with Laplace noise{ours}, {CONSTANTS[constants]}")
    return picture


FIGURE = Figure(
    title="What privacy costs",
    place="Figure 1",
    question="How does regret grow under ε-LDP, and does LDP-PSRL beat LDP-OBI?",
    cells=cells,
    plot=plot,
    findings=findings,
    chapter=1,
    options=frozenset({"states", "epsilon"}),
)
