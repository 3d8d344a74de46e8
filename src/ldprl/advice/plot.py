"""A picture of the advice: loss against users at one ε, and against ε at the users asked about."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from ldprl.advice.adviser import Advice
from ldprl.advice.forecast import Forecast
from ldprl.advice.pairs import Pair
from ldprl.catalogue import LEARNERS

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_INK, _QUIET = "#1b1b1b", "#6b6b6b"
_HIGHEST = 1.3
_BEFORE = 1000
"""The picture begins at this fraction of the users."""


def plot_advice(advice: Advice) -> Figure:
    """Draw the best mechanism of each learner, as means over the runs.

    A band from the least to the most of the runs is drawn for the recommended pair alone, so that
    it can be read.
    """
    from matplotlib.figure import Figure

    figure = Figure(figsize=(11, 4.8), layout="constrained")
    by_users, by_epsilon = figure.subplots(1, 2, sharey=True)
    for pair in _shown(advice):
        _draw(by_users, by_epsilon, advice, pair)
    unprotected, users, level = advice.open, advice.users, advice.chosen.epsilon or 1.0
    dotted: dict[str, Any] = {"color": _INK, "linestyle": ":", "linewidth": 1.8}
    by_users.plot(unprotected.points, unprotected.mean, **dotted)
    label = f"no privacy\n({unprotected.pair.learner})"
    by_epsilon.axhline(unprotected.loss(users), label=label, **dotted)
    near = _nearest(advice)
    others = "" if near == level else f" (thin lines: {near:g})"
    _dress(by_users, advice.target, users, f"{users:,} users", f"users, at ε = {level:g}{others}")
    _dress(by_epsilon, advice.target, level, f"ε = {level:g}", f"ε, after {users:,} users")
    by_users.set_xlim(users / _BEFORE, unprotected.points[-1])
    by_users.set_ylabel("policy loss (0 the best policy, 1 acting at random)")
    by_epsilon.set_xticks(advice.epsilons, [f"{value:g}" for value in advice.epsilons])
    by_epsilon.minorticks_off()
    shape = advice.shape
    sizes = f"S = {shape.states}, A = {shape.actions}, H = {shape.horizon}"
    runs = f"means over {len(advice.worlds)} runs, band from the least to the most"
    figure.suptitle(f"What privacy costs: {sizes}; {runs}", x=0.01, ha="left", fontsize=12)
    figure.legend(loc="outside right upper", frameon=False, fontsize=9, **_legend(by_epsilon))
    return figure


def _draw(by_users: Axes, by_epsilon: Axes, advice: Advice, pair: Pair) -> None:
    chosen = pair == advice.chosen.pair
    near = _nearest(advice)
    there = next(one for one in advice.of(pair) if one.epsilon == near)
    along = advice.chosen if chosen else there
    _line(by_users, along.points.tolist(), along.losses.T.tolist(), pair, chosen)
    extra = [*advice.around, advice.chosen] if chosen else []
    least, most = advice.epsilons[0], advice.epsilons[-1]
    levels = {one.epsilon or 0.0: one for one in [*advice.of(pair), *extra]}
    inside = [level for level in sorted(levels) if least <= level <= most]
    rows = [levels[level].after(advice.users).tolist() for level in inside]
    _line(by_epsilon, inside, rows, pair, chosen)


def _line(
    axes: Axes, places: list[float], rows: list[list[float]], pair: Pair, chosen: bool
) -> None:
    colour = LEARNERS.find(pair.learner).colour
    mean = [sum(row) / len(row) for row in rows]
    label = f"{pair.learner},\n{pair.mechanism}"
    axes.plot(places, mean, color=colour, label=label, linewidth=2.6 if chosen else 1.4)
    if chosen:
        least, most = [min(row) for row in rows], [max(row) for row in rows]
        axes.fill_between(places, least, most, color=colour, alpha=0.18, linewidth=0)


def _dress(axes: Axes, target: float, mark: float, name: str, label: str) -> None:
    """Mark the target and the value that the caller asked about, and label the axis."""
    axes.set_xscale("log")
    axes.set_ylim(0, _HIGHEST)
    axes.set_xlabel(label)
    axes.axvline(mark, color=_QUIET, linewidth=0.8, zorder=0)
    axes.axhline(target, color=_QUIET, linewidth=0.8, linestyle="--", zorder=0)
    quiet: dict[str, Any] = {"textcoords": "offset points", "color": _QUIET, "fontsize": 9}
    axes.annotate(name, (mark, _HIGHEST), (4, -9), **quiet)
    side = ("axes fraction", "data")
    axes.annotate(f"target {target:g}", (1, target), (-2, 3), ha="right", xycoords=side, **quiet)
    axes.spines[["top", "right"]].set_visible(False)


def _legend(axes: Axes) -> dict[str, Any]:
    handles, labels = axes.get_legend_handles_labels()
    return {"handles": handles, "labels": labels}


def _shown(advice: Advice) -> list[Pair]:
    """Return the recommended pair, and of every other learner the one with the least loss."""
    near = _nearest(advice)
    best: dict[str, Forecast] = {}
    for forecast in advice.forecasts:
        if forecast.epsilon == near:
            known = best.setdefault(forecast.pair.learner, forecast)
            if forecast.loss(advice.users) < known.loss(advice.users):
                best[forecast.pair.learner] = forecast
    chosen = advice.chosen.pair
    pairs = [chosen if name == chosen.learner else one.pair for name, one in best.items()]
    return sorted(pairs, key=advice.pairs.index)


def _nearest(advice: Advice) -> float:
    """Return the ε of all pairs' forecasts that is nearest to the recommended one."""
    wanted = advice.chosen.epsilon or 1.0
    return min(advice.epsilons, key=lambda level: abs(math.log(level / wanted)))
