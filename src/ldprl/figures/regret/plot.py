"""Draws figure 1: a column for each ε, cumulative regret above, regret per episode below."""

from __future__ import annotations

import pyarrow as pa
from matplotlib.figure import Figure as Picture

from ldprl.figures.common.bands import Label, draw_band, finish
from ldprl.figures.common.curves import Curve, curves_of, pick
from ldprl.figures.common.settings import EPSILONS
from ldprl.figures.common.style import CONSTANTS, LEARNERS, headline, panels


def plot(table: pa.Table) -> dict[str, Picture]:
    """Return a picture for the paper's constants and one for sound ones."""
    curves = curves_of(table)
    return {name: _picture(pick(curves, constants=name), name) for name in CONSTANTS}


def _picture(curves: list[Curve], constants: str) -> Picture:
    picture, axes = panels(2, len(EPSILONS))
    for column, epsilon in enumerate(EPSILONS):
        shown = [curve for curve in curves if curve.epsilon in (epsilon, float("inf"))]
        for row, per_step in enumerate((False, True)):
            panel = axes[row][column]
            ends = [
                Label(draw_band(panel, curve, colour, per_step=per_step), title, colour)
                for curve in shown
                for title, colour in [LEARNERS[curve.learner]]
            ]
            finish(panel, ends, per_step=per_step)
        axes[0][column].set_title(f"ε = {epsilon:g}")
        axes[1][column].set_xlabel("episodes k")
    axes[0][0].set_ylabel("cumulative regret $R_k$")
    axes[1][0].set_ylabel("regret per episode $R_k/k$")
    headline(picture, f"Regret with Laplace noise, {CONSTANTS[constants]}")
    return picture
