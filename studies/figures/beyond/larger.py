"""Larger problems than the draws of RandomMDP(2, 2, 2)."""

from __future__ import annotations

from textwrap import fill

from matplotlib.figure import Figure as Picture

from ldprl.figures.curves import pick
from ldprl.figures.drawing import Label, end_labels, headline, panels
from ldprl.figures.figure import Grid
from ldprl.figures.numerals import number
from studies.figures.beyond.headline import draw_mean, regret_axes
from studies.figures.beyond.price import NEAR_OPTIMAL, count_or_more, users_needed
from studies.figures.beyond.results import (
    LARGER,
    OPEN,
    PRIVATE,
    SEEING_ALL,
    Results,
    regret_at,
)


def larger_grid(results: Results) -> Grid:
    """Return the regret of all on the larger problems, and how much of it a user has."""
    epsilon = results.shown
    rows = []
    for place, title in LARGER.items():
        here = pick(results.larger, environment=place)
        for one in (*PRIVATE, *OPEN):
            (curve,) = one.curves(here, epsilon) or one.curves(here)
            last = int(curve.episodes[-1])
            each = number(curve.final / last)
            needed = count_or_more(users_needed(curve), last)
            rows.append((title, one.name, number(regret_at(curve, last)), each, needed))
    heads = ("problem", f"learner, ε = {epsilon:g}", "regret", "a user", f"users to {NEAR_OPTIMAL}")
    return Grid("Larger problems", heads, rows)


def larger(results: Results) -> Picture:
    """Draw the larger problems at the ε of the headline."""
    picture, (row,) = panels(1, len(LARGER), width=5.2, height=3.9, sharey=False)
    for panel, (place, title) in zip(row, LARGER.items(), strict=True):
        here = pick(results.larger, environment=place)
        ends = []
        for one in (*PRIVATE, *SEEING_ALL):
            curves = one.curves(here, results.shown) or one.curves(here)
            ends.append(Label(draw_mean(panel, one, curves), one.name, one.colour))
        regret_axes(panel)
        end_labels(panel, ends, size=8.5)
        # In two lines, clear of the labels at the lines' ends.
        panel.set_title(fill(title, 24))
        panel.set_xlabel("users")
    row[0].set_ylabel("regret so far")
    headline(picture, f"Larger problems, ε = {results.shown:g}; dashed: no privacy")
    return picture
