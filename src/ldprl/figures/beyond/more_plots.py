"""Draws what is behind the headline: price, users needed, ablation and the hard tree."""

from __future__ import annotations

import math

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Picture

from ldprl.bounds import regret_lower_bound_ldp
from ldprl.figures.beyond.contenders import WITHOUT_PRIVACY
from ldprl.figures.beyond.measures import NEAR, Results, ratios, spread_of, users_needed
from ldprl.figures.beyond.sweep import ON_THE_TREE
from ldprl.figures.common.bands import Label, end_labels, log_axis
from ldprl.figures.common.settings import EPSILONS
from ldprl.figures.common.style import EPSILONS as EPSILON_COLOURS
from ldprl.figures.common.style import FAINT, INK, QUIET, headline, panels
from ldprl.figures.common.words import number, percent, power
from ldprl.figures.hard_instance.sweep import ACTIONS, HORIZON, STATES


def price(results: Results) -> Picture:
    """Draw regret at ε over regret of the same learner without privacy."""
    picture, ((panel,),) = panels(1, 1, width=8.2, height=4.6)
    ends = []
    for one, free in WITHOUT_PRIVACY.items():
        spreads = [
            spread_of(ratios(results.of(one, e), results.of(free, e), results.episodes))
            for e in results.epsilons
        ]
        means = [spread.mean for spread in spreads]
        panel.plot(results.epsilons, means, "o-", color=one.colour, linewidth=1.8, markersize=5)
        ends.append(Label(means[-1], one.name, one.colour))
    panel.axhline(1, color=INK, linewidth=1)
    _epsilon_axis(panel, results.epsilons)
    log_axis(panel, "y")
    end_labels(panel, ends, size=9.5)
    panel.set_ylabel("regret at ε over regret without privacy")
    after = power(results.episodes)
    headline(picture, f"The price of privacy after {after} users, geometric mean over the draws")
    return picture


def users(results: Results) -> Picture:
    """Draw how many users are needed until policies are near-optimal: the median over draws."""
    picture, ((panel,),) = panels(1, 1, width=8.2, height=4.6)
    never = 3.0 * results.episodes
    ends = []
    for one in WITHOUT_PRIVACY:
        medians = [
            min(float(np.median([users_needed(c) for c in results.of(one, e)])), never)
            for e in results.epsilons
        ]
        panel.plot(results.epsilons, medians, "o-", color=one.colour, linewidth=1.8, markersize=5)
        ends.append(Label(medians[-1], one.name, one.colour))
    _epsilon_axis(panel, results.epsilons)
    log_axis(panel, "y")
    panel.set_ylim(top=2 * never)
    panel.axhspan(results.episodes, 2 * never, color=FAINT, alpha=0.5, linewidth=0)
    panel.annotate(
        f"not within {power(results.episodes)} users",
        (0.99, 1.1 * results.episodes),
        xycoords=("axes fraction", "data"),
        ha="right",
        va="bottom",
        fontsize=9,
        color=QUIET,
    )
    end_labels(panel, ends, size=9.5)
    panel.set_ylabel("users, median over the draws")
    headline(picture, f"Users needed until policies lose at most {percent(NEAR)} of V*")
    return picture


def ablation(results: Results) -> Picture:
    """Draw each idea alone and left out: a dot for each draw, a line for the geometric mean."""
    epsilons = [epsilon for epsilon in results.epsilons if epsilon in EPSILONS]
    if not epsilons:
        epsilons = [results.shown]
    width = 4.2 + 4.6 / len(epsilons)  # the names on the left need room once
    picture, (row,) = panels(1, len(epsilons), width=width, height=5.2)
    for panel, epsilon in zip(row, epsilons, strict=True):
        found = results.ablation(epsilon, results.episodes)
        log_axis(panel, "x", every=2)
        for place, values in enumerate(found.values()):
            colour = EPSILON_COLOURS[epsilon]
            mean = spread_of(values).mean
            panel.plot(values, [-place] * len(values), "o", color=colour, alpha=0.25, markersize=5)
            panel.plot([mean], [-place], "|", color=INK, markersize=15, markeredgewidth=2.2)
            panel.annotate(
                number(mean),
                (1.01, -place),
                xycoords=("axes fraction", "data"),
                va="center",
                fontsize=9.5,
            )
        panel.set_yticks([-place for place in range(len(found))], list(found))
        panel.grid(visible=True, axis="x")
        panel.set_title(f"ε = {epsilon:g}")
        panel.set_xlabel("times less regret")
    after = power(results.episodes)
    headline(
        picture, f"Times less regret than LDP-OBI as printed after {after} users, a dot a draw"
    )
    return picture


def tree(results: Results) -> Picture:
    """Draw the lower bound's tree, made anew for each K: there √K/ε is back."""
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
        lower = [regret_lower_bound_ldp(STATES, ACTIONS, HORIZON, k, epsilon) for k in sizes]
        panel.plot(sizes, lower, color=QUIET, linewidth=1.4)
        ends.append(Label(lower[-1], "lower bound", QUIET))
        panel.margins(x=0.02)
        labels.append((panel, ends))
        panel.set_title(f"ε = {epsilon:g}")
        panel.set_xlabel("K, for which the instance is made")
    for panel, ends in labels:  # the panels share their scale, which all lines decide
        end_labels(panel, ends, size=9.5)
    row[0].set_ylabel("regret after K users")
    headline(picture, "The instance behind the lower bound, made anew for each K")
    return picture


def _epsilon_axis(panel: Axes, epsilons: list[float]) -> None:
    panel.set_xscale("log")
    panel.set_xticks(epsilons, [f"{epsilon:g}" for epsilon in epsilons])
    panel.minorticks_off()
    panel.set_xlabel("ε")
    panel.margins(x=0.03)
    if len(epsilons) == 1:
        panel.set_xlim(epsilons[0] / math.e, epsilons[0] * math.e)
