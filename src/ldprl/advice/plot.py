"""A picture of the advice: loss against users at one ε, and against ε at the users asked about."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from ldprl.advice.adviser import Advice
from ldprl.advice.forecast import Forecast
from ldprl.catalogue import LEARNERS, Pair
from ldprl.simulation.regret import standard_error

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_INK, _QUIET = "#1b1b1b", "#6b6b6b"
_HIGHEST = 1.3
"""Upper end of the axis of losses; acting at random loses 1."""
_BEFORE = 1000
"""The picture begins at this fraction of the users."""


def plot_advice(advice: Advice) -> Figure:
    """Draw the recommended pair and the best mechanism of each other learner.

    On the left the loss against users at one ε, with a band of two standard errors; on the right
    against ε: the simulated means with two standard errors, the line that falls with ε, and a dot
    for each other learner.
    """
    from matplotlib.figure import Figure

    figure = Figure(figsize=(11, 4.8), layout="constrained")
    by_users, by_epsilon = figure.subplots(1, 2, sharey=True)
    others = _others(advice)
    for forecast in others:
        by_users.plot(forecast.points, forecast.mean, **_thin(forecast.pair))
        dot = (forecast.level, forecast.loss(advice.users))
        by_epsilon.plot(*dot, marker=".", **_thin(forecast.pair))
    _draw_chosen(by_users, by_epsilon, advice)
    users, level = advice.users, advice.epsilon
    if (unprotected := advice.open) is not None:
        dotted: dict[str, Any] = {"color": _INK, "linestyle": ":", "linewidth": 1.8}
        label = f"no privacy\n({unprotected.pair.learner})"
        by_users.plot(unprotected.points, unprotected.mean, label=label, **dotted)
        by_epsilon.axhline(unprotected.loss(users), **dotted)
    _dress(by_users, advice.target, users, f"{users:,} users", f"users, at ε = {level:g}")
    _dress(by_epsilon, advice.target, level, f"ε = {level:g}", f"ε, after {users:,} users")
    by_users.set_xlim(users / _BEFORE, max(users, advice.chosen.points[-1]) * 1.1)
    by_users.set_ylabel("policy loss (0 the best policy, 1 acting at random)")
    ticks = [one.level for one in advice.near]
    by_epsilon.set_xticks(ticks, [f"{value:g}" for value in ticks])
    by_epsilon.minorticks_off()
    shape = advice.shape
    sizes = f"S = {shape.states}, A = {shape.actions}, H = {shape.horizon}"
    runs = f"means over {len(advice.chosen.losses)} runs, ± 2 standard errors"
    figure.suptitle(f"What privacy costs: {sizes}; {runs}", x=0.01, ha="left", fontsize=12)
    handles, labels = by_users.get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside right upper", frameon=False, fontsize=9)
    return figure


def _draw_chosen(by_users: Axes, by_epsilon: Axes, advice: Advice) -> None:
    chosen, fit = advice.chosen, advice.fit()
    colour = LEARNERS.find(chosen.pair.learner).colour
    by_users.plot(chosen.points, chosen.mean, **_thin(chosen.pair) | {"linewidth": 2.6})
    if len(chosen.losses) > 1:
        low, high = (chosen.mean + side * 2 * chosen.error for side in (-1, 1))
        by_users.fill_between(chosen.points, low, high, color=colour, alpha=0.18, linewidth=0)
    levels, users = fit.epsilons, advice.users
    means = [one.loss(users) for one in advice.near]
    errors = [float(standard_error(one.after(users))) for one in advice.near]
    bars = [2 * error if math.isfinite(error) else 0.0 for error in errors]
    by_epsilon.errorbar(levels, means, yerr=bars, fmt="o", color=colour, markersize=5)
    fitted = [fit.loss(level, users) for level in levels]
    by_epsilon.plot(levels, fitted, color=colour, linewidth=2.6)


def _thin(pair: Pair) -> dict[str, Any]:
    colour = LEARNERS.find(pair.learner).colour
    label = f"{pair.learner},\n{pair.mechanism}"
    return {"color": colour, "label": label, "linewidth": 1.4}


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


def _others(advice: Advice) -> list[Forecast]:
    """Return the best pair of every other learner."""
    best: dict[str, Forecast] = {}
    for one in advice.compared:
        if one.pair.learner != advice.chosen.pair.learner:
            known = best.setdefault(one.pair.learner, one)
            if one.loss(advice.users) < known.loss(advice.users):
                best[one.pair.learner] = one
    return list(best.values())
