"""Draws the figure beyond the paper."""

from __future__ import annotations

from collections.abc import Sequence
from textwrap import fill

import numpy as np
import pyarrow as pa
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Picture

from ldprl.figures.beyond.contenders import (
    NOISELESS,
    OPTIMIST,
    PRIVATE,
    REFERENCE,
    SAMPLER,
    UCB_VI,
    Contender,
)
from ldprl.figures.beyond.measures import LEAST_REGRET, Results
from ldprl.figures.beyond.more_plots import ablation, price, tree, users
from ldprl.figures.beyond.sweep import LARGER
from ldprl.figures.common.bands import Label, end_labels, log_axis
from ldprl.figures.common.curves import Curve, pick
from ldprl.figures.common.style import headline, panels
from ldprl.figures.common.words import number
from ldprl.shape import FloatArray

_FIRST_SHOWN = 100
_SEEING_ALL = (NOISELESS, UCB_VI)


def plot(table: pa.Table) -> dict[str, Picture]:
    """Return the headline and the pictures behind it."""
    results = Results(table)
    return {
        "": first(results),
        "epsilons": every_epsilon(results),
        "larger": larger(results),
        "price": price(results),
        "users": users(results),
        "ablation": ablation(results),
        "tree": tree(results),
    }


def first(results: Results) -> Picture:
    """Draw regret against users at one ε: the picture for those who look at one only."""
    epsilon = results.shown
    picture, ((panel,),) = panels(1, 1, width=9.6, height=5.0)
    shown = (REFERENCE, *_SEEING_ALL, OPTIMIST, SAMPLER)
    final = _lines(panel, results, shown, epsilon, bands=True)
    ends = [Label(final[one], _first_label(one, final), one.colour) for one in shown]
    end_labels(panel, ends, size=11)
    panel.set_xlabel("users")
    panel.set_ylabel("regret so far")
    count = len(results.of(REFERENCE, epsilon))
    headline(
        picture,
        f"The same privacy, ε = {epsilon:g}: what all users together lose while the service"
        f" learns\n(geometric mean over {count} MDPs with S = A = H = 2; bands: where half of them"
        " are)",
    )
    return picture


def _first_label(one: Contender, final: dict[Contender, float]) -> str:
    short = {REFERENCE: "LDP-OBI, as in the paper", OPTIMIST: "LDP-EVI", SAMPLER: "LDP-TS"}
    name = short.get(one, one.name)
    if one in (OPTIMIST, SAMPLER):
        return f"{name}: {number(final[REFERENCE] / final[one])} × less"
    return name


def every_epsilon(results: Results) -> Picture:
    """Draw a panel for each ε, with everybody in it."""
    columns = min(3, len(results.epsilons))
    rows = -(-len(results.epsilons) // columns)
    picture, axes = panels(rows, columns, width=5.2, height=3.9)
    ends = []
    for i, epsilon in enumerate(results.epsilons):
        panel = axes[i // columns][i % columns]
        shown = (*PRIVATE, *_SEEING_ALL)
        final = _lines(panel, results, shown, epsilon)
        ends.append((panel, [Label(final[one], one.name, one.colour) for one in shown]))
        panel.set_title(f"ε = {epsilon:g}")
    for panel, labels in ends:  # panels of a row share their scale, which all lines decide
        end_labels(panel, labels, size=8.5)
    for empty in range(len(results.epsilons), rows * columns):
        axes[empty // columns][empty % columns].set_visible(False)
    for panel in axes[-1]:
        panel.set_xlabel("users")
    for row in axes:
        row[0].set_ylabel("regret so far")
    headline(picture, "Regret against users, geometric mean over the draws; dashed: no privacy")
    return picture


def larger(results: Results) -> Picture:
    """Draw the larger problems at the ε of the headline."""
    picture, (row,) = panels(1, len(LARGER), width=5.2, height=3.9, sharey=False)
    for panel, (place, title) in zip(row, LARGER.items(), strict=True):
        here = pick(results.larger, environment=place)
        ends = []
        for one in (*PRIVATE, *_SEEING_ALL):
            curves = one.curves(here, results.shown) or one.curves(here)
            ends.append(Label(_line(panel, one, curves), one.name, one.colour))
        _axes(panel)
        end_labels(panel, ends, size=8.5)
        # In two lines, clear of the labels at the lines' ends.
        panel.set_title(fill(title, 24))
        panel.set_xlabel("users")
    row[0].set_ylabel("regret so far")
    headline(picture, f"Larger problems, ε = {results.shown:g}; dashed: no privacy")
    return picture


def _lines(
    panel: Axes,
    results: Results,
    shown: Sequence[Contender],
    epsilon: float,
    *,
    bands: bool = False,
) -> dict[Contender, float]:
    """Draw the contenders' means over the draws, and return where they end."""
    final = {}
    for one in shown:
        curves = results.of(one, epsilon)
        if bands and one not in _SEEING_ALL:
            episodes, regrets = _regrets(curves)
            low, high = np.quantile(regrets, [0.25, 0.75], axis=0)
            panel.fill_between(episodes, low, high, color=one.colour, alpha=0.16, linewidth=0)
        final[one] = _line(panel, one, curves)
    _axes(panel)
    return final


def _line(panel: Axes, one: Contender, curves: Sequence[Curve]) -> float:
    episodes, regrets = _regrets(curves)
    mean = np.exp(np.log(regrets).mean(axis=0))
    dashes = (0, (4, 2)) if one in _SEEING_ALL else "-"
    line = 2.6 if one in (REFERENCE, OPTIMIST, SAMPLER) else 1.6
    panel.plot(episodes, mean, color=one.colour, linestyle=dashes, linewidth=line)
    return float(mean[-1])


def _regrets(curves: Sequence[Curve]) -> tuple[FloatArray, FloatArray]:
    """Return checkpoints, and the mean regret of each curve at them but at least one unit."""
    episodes = curves[0].episodes
    from_here = episodes >= min(_FIRST_SHOWN, int(episodes[-1]) // 2)
    regrets = np.array([np.maximum(curve.mean[from_here], LEAST_REGRET) for curve in curves])
    return episodes[from_here].astype(np.float64), regrets


def _axes(panel: Axes) -> None:
    panel.margins(x=0)
    log_axis(panel, "x", every=2)
    log_axis(panel, "y", every=2)
