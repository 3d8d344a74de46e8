"""The figure of appendix G: LDP-PSRL by itself."""

from __future__ import annotations

import pyarrow as pa
from matplotlib.figure import Figure as Picture

from ldprl.experiments.cells import Cell
from ldprl.figures.cells import cell_of, first_draw
from ldprl.figures.curves import Curve, curves_of, pick
from ldprl.figures.drawing import colour_of, learner_look, two_by_two
from ldprl.figures.figure import Figure, Findings
from ldprl.figures.gallery.regret import final_regrets
from ldprl.figures.numerals import listing
from ldprl.figures.settings import BOTH_CONSTANTS, Settings


def cells(settings: Settings) -> list[Cell]:
    """Return LDP-PSRL at each ε, with PSRL beside it."""
    draw = first_draw(settings.states)
    found = []
    for constants in BOTH_CONSTANTS:
        for epsilon in settings.epsilons:
            found.append(cell_of(settings, draw, "ldp-psrl", constants, "laplace", epsilon))
        found.append(cell_of(settings, draw, "psrl", constants))
    return found


def findings(table: pa.Table) -> Findings:
    """Return what the report says, and the regrets behind it."""
    curves = curves_of(table)
    paper = pick(curves, learner="ldp-psrl", constants="paper")
    return Findings([stuck(paper)], [final_regrets(curves)])


NEAR_LINEAR = 0.9
"""Regret that grows like k to at least this power over the last factor of ten is almost linear."""


def stuck(curves: list[Curve]) -> str:
    """Say how many runs have settled on a policy that is not optimal."""
    counts = [sum(power >= NEAR_LINEAR for power in curve.exponents) for curve in curves]
    runs = len(curves[0].regret)
    if not any(counts):
        return "No run is stuck: over the last factor of ten the regret of none is almost linear."
    parts = [
        f"{count} at ε = {curve.epsilon:g}" for count, curve in zip(counts, curves, strict=True)
    ]
    return (
        f"Of {runs} runs, {listing(parts)} are stuck with a policy that is not optimal: over the"
        " last factor of ten their regret is almost linear. The prior, inflated against the noise,"
        " has λ₀ of order √K/ε at μ₀ = 0: an action that lost early is never sampled as good again."
    )


def plot(table: pa.Table) -> dict[str, Picture]:
    """Return a picture with a row for each kind of constants."""
    return {"": two_by_two(curves_of(table), _look, "LDP-PSRL with Laplace noise")}


def _look(curve: Curve) -> tuple[str, str]:
    if curve.mechanism == "none":
        return learner_look(curve)
    return f"ε = {curve.epsilon:g}", colour_of(curve.epsilon)


FIGURE = Figure(
    title="Posterior sampling under privacy",
    place="Figure of appendix G",
    question="How does LDP-PSRL's regret depend on ε?",
    cells=cells,
    plot=plot,
    findings=findings,
    chapter=3,
    options=frozenset({"states", "epsilon"}),
)
