"""The lower bound's tree, with the instance made for each K: there regret grows like √K/ε."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from matplotlib.figure import Figure as Picture

from ldprl.experiments.cells import Cell
from ldprl.figures.curves import Curve
from ldprl.figures.drawing import QUIET, Label, end_labels, headline, log_axis, panels
from ldprl.figures.figure import Grid
from ldprl.figures.gallery.hard_instance import instances, lower_bound
from ldprl.figures.numerals import number
from ldprl.figures.settings import Settings
from studies.figures.beyond.results import (
    ASKING,
    OPTIMIST,
    REFERENCE,
    SAMPLER,
    Results,
    regret_at,
)

ON_THE_TREE = (REFERENCE, ASKING, OPTIMIST, SAMPLER)


def tree_cells(settings: Settings) -> list[Cell]:
    """Return the simulations on the lower bound's tree, made for every K."""
    return [
        one.cell(replace(settings, episodes=at.episodes), at.named, at.epsilon)
        for at in instances(settings)
        for one in ON_THE_TREE
    ]


def growth(curves: Sequence[Curve]) -> float:
    """Return x in "regret after K users grows like K^x", of curves for different K.

    Not a number for fewer than two.
    """
    if len(curves) < 2:
        return math.nan
    sizes = [float(curve.episodes[-1]) for curve in curves]
    finals = [regret_at(curve, size) for curve, size in zip(curves, sizes, strict=True)]
    return float(np.polyfit(np.log(sizes), np.log(finals), 1)[0])


def tree(results: Results) -> str:
    """Say whether √K is back where the lower bound says that it must be."""
    powers = [
        growth(one.curves(results.tree, epsilon))
        for epsilon in sorted({curve.epsilon for curve in results.tree})
        for one in ON_THE_TREE
    ]
    if any(math.isnan(power) for power in powers):
        return "This run is too short to tell how regret grows on the lower bound's tree."
    low, high = min(powers), max(powers)
    verdict = "√K is back" if low > 0.4 and high < 0.6 else "not √K for all of them"
    return (
        "On the lower bound's tree, made harder with every K, regret grows like K to the power of"
        f" {low:.2f} to {high:.2f}: {verdict}, for our learners as for the paper's."
    )


def tree_grid(results: Results) -> Grid:
    """Return regret on the lower bound's tree over the lower bound, and how it grows with K."""
    rows = []
    for epsilon in sorted({curve.epsilon for curve in results.tree}):
        for one in ON_THE_TREE:
            curves = one.curves(results.tree, epsilon)
            sizes = [int(curve.episodes[-1]) for curve in curves]
            bounds = [lower_bound(k, epsilon) for k in sizes]
            above = [curve.final / bound for curve, bound in zip(curves, bounds, strict=True)]
            rows.append(
                (
                    one.name,
                    f"{epsilon:g}",
                    f"{growth(curves):.2f}",
                    f"{number(min(above))} to {number(max(above))}",
                )
            )
    heads = ("learner", "ε", "regret grows like K to the", "times the lower bound")
    title = "On the lower bound's tree, with Δ chosen for each K"
    return Grid(title, heads, rows)


def tree_picture(results: Results) -> Picture:
    """Draw regret on the lower bound's tree, made for each K."""
    epsilons = sorted({curve.epsilon for curve in results.tree})
    picture, (row,) = panels(1, len(epsilons), width=5.8, height=4.0)
    labels = []
    for panel, epsilon in zip(row, epsilons, strict=True):
        ends = []
        log_axis(panel, "x")
        log_axis(panel, "y")
        for one in ON_THE_TREE:
            curves = one.curves(results.tree, epsilon)
            sizes = [int(curve.episodes[-1]) for curve in curves]
            finals = [max(curve.final, 1.0) for curve in curves]
            panel.plot(sizes, finals, "o-", color=one.colour, linewidth=1.8, markersize=4.5)
            ends.append(Label(finals[-1], one.name, one.colour))
        lower = [lower_bound(k, epsilon) for k in sizes]
        panel.plot(sizes, lower, color=QUIET, linewidth=1.4)
        ends.append(Label(lower[-1], "lower bound", QUIET))
        panel.margins(x=0.02)
        labels.append((panel, ends))
        panel.set_title(f"ε = {epsilon:g}")
        panel.set_xlabel("K, for which the instance is made")
    for panel, ends in labels:  # the panels share their scale, which all lines decide
        end_labels(panel, ends, size=9.5)
    row[0].set_ylabel("regret after K users")
    headline(picture, "The instance behind the lower bound, made for each K")
    return picture
