"""Draws the histogram: the true sums, and how noise spreads them, an ε a row."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Picture
from matplotlib.ticker import MaxNLocator

from ldprl.figures.common.settings import EPSILONS
from ldprl.figures.common.style import CONSTANTS, INK, headline, panels
from ldprl.figures.common.style import EPSILONS as COLOURS
from ldprl.figures.histogram.findings import values_of
from ldprl.figures.histogram.sweep import ACTION, EPISODES, STATE
from ldprl.shape import FloatArray


def plot(table: pa.Table) -> dict[str, Picture]:
    """Return a column for each kind of constants, a row for each ε."""
    picture, axes = panels(len(EPSILONS), len(CONSTANTS), width=5.4, height=1.7, sharey=False)
    for row, epsilon in zip(axes, EPSILONS, strict=True):
        reach = max(_reach(table, constants, epsilon) for constants in CONSTANTS)
        for panel, constants in zip(row, CONSTANTS, strict=True):
            truth = values_of(table, constants, np.inf)
            limits = (truth.mean() - reach, truth.mean() + reach)
            _bars(panel, values_of(table, constants, epsilon), limits, COLOURS[epsilon], fill=True)
            _bars(panel, truth, limits, INK, fill=False)
            panel.text(
                0.0, 0.86, f"ε = {epsilon:g}", color=COLOURS[epsilon], transform=panel.transAxes
            )
            panel.set_xlim(limits)
            panel.xaxis.set_major_locator(MaxNLocator(5))
            panel.set_yticks([])
            panel.spines["left"].set_visible(False)
    for panel, title in zip(axes[0], CONSTANTS.values(), strict=True):
        panel.set_title(title)
        panel.text(0.53, 0.9, "without privacy", transform=panel.transAxes)
    for panel in axes[-1]:
        panel.set_xlabel("summed reward (each row has its own scale)")
    cell = f"state {STATE}, action {ACTION}"
    headline(picture, f"Summed reward of {cell} after {EPISODES:,} episodes of UCB-VI")
    return {"": picture}


def _reach(table: pa.Table, constants: str, epsilon: float) -> float:
    """Return how far from the true mean the values are, at most."""
    truth, noisy = (values_of(table, constants, level) for level in (np.inf, epsilon))
    return 1.05 * max(float(np.abs(noisy - truth.mean()).max()), float(np.ptp(truth)), 1.0)


def _bars(
    panel: Axes, values: FloatArray, limits: tuple[float, float], colour: str, *, fill: bool
) -> None:
    """Draw a histogram of height 1, so that shapes compare whatever their width."""
    heights, edges = np.histogram(values, np.linspace(*limits, 60))
    heights = heights / heights.max()
    panel.stairs(heights, edges, fill=fill, color=colour, alpha=0.55 if fill else 1, linewidth=1.6)
