"""One picture of what was learnt: the loss as users come, and the policy beside the best one."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from comparison import Actions, Comparison
from matplotlib.axes import Axes
from matplotlib.colors import ListedColormap
from matplotlib.figure import Figure
from world import ACTIONS, MOODS, QUARTERS, STANDINGS, STATES

# Okabe and Ito's palette, which the colour-blind can distinguish; from safe to bold.
COLOURS = ("#999999", "#56b4e9", "#f0e442", "#d55e00")
_INK, _QUIET = "#1b1b1b", "#6b6b6b"
_BEFORE = 500  # The picture begins at this fraction of the users.


def draw_learning(found: Comparison, points: list[int], regret: list[float], file: Path) -> None:
    """Draw the losses and the policies into a PNG file."""
    figure = Figure(figsize=(11, 4.6), layout="constrained")
    losses, learnt, best = figure.subplots(1, 3, width_ratios=[2.3, 1, 1])
    _draw_losses(losses, found, np.array(points), np.array(regret))
    _draw_policy(learnt, found.learnt, "learnt from the reports")
    _draw_policy(best, found.best, "the best there is")
    names = [f"{mood}, {standing}" for mood in MOODS for standing in STANDINGS]
    learnt.set_yticks(range(len(STATES)), names, fontsize=8)
    best.set_yticks([])
    for step, state in np.argwhere(found.learnt != found.best):
        learnt.plot(step, state, marker="x", color=_INK, markersize=6)
    for axes in (learnt, best):
        axes.set_xlabel("quarter")
    handles = [learnt.scatter([], [], marker="s", s=60, color=colour) for colour in COLOURS]
    labels = [*ACTIONS]
    if (found.learnt != found.best).any():
        handles.append(learnt.scatter([], [], marker="x", color=_INK))
        labels.append("differs")
    figure.legend(
        handles, labels, loc="outside lower right", ncols=len(labels), frameon=False, fontsize=9
    )
    figure.savefig(file, dpi=110, metadata={"Software": None})


def _draw_losses(
    axes: Axes,
    found: Comparison,
    points: Actions,
    regret: np.ndarray[tuple[int], np.dtype[np.float64]],
) -> None:
    last = int(points[-1])
    first = max(1, last // _BEFORE)
    best_of_all = int(np.argmax(found.same_for_all))
    levels = (
        (found.best_value - found.random_value, "advice at random"),
        (found.best_value - found.same_for_all[best_of_all], f"{ACTIONS[best_of_all]} for all"),
    )
    for height, name in levels:
        axes.axhline(height, color=_QUIET, linestyle=":", linewidth=1.2)
        axes.text(first, height, f" {name}", va="bottom", color=_QUIET, fontsize=9)
    users = np.maximum([*found.plan_users, last], first)
    heights = [*found.plan_losses, found.plan_losses[-1]]
    axes.step(users, heights, where="post", color="#0072b2", label="the plan in force")
    axes.plot(points, regret / points, color="#009e73", label="mean of all users so far")
    axes.plot(
        last,
        found.best_value - found.learnt_value,
        "o",
        color="#d55e00",
        clip_on=False,
        label="the learnt policy, without exploring",
    )
    axes.set_xscale("log")
    axes.set_xlim(first, last)
    axes.set_ylim(0, None)
    axes.set_xlabel("users")
    axes.set_ylabel(f"goals lost per user, of {QUARTERS}, against the best advice")
    axes.legend(frameon=False, fontsize=9, loc="lower left")
    axes.spines[["top", "right"]].set_visible(False)


def _draw_policy(axes: Axes, policy: Actions, title: str) -> None:
    colours = ListedColormap(list(COLOURS))
    axes.imshow(policy.T, cmap=colours, vmin=-0.5, vmax=len(ACTIONS) - 0.5, aspect="auto")
    axes.set_xticks(range(QUARTERS), [str(step + 1) for step in range(QUARTERS)])
    axes.set_xticks(np.arange(QUARTERS - 1) + 0.5, minor=True)
    axes.set_yticks(np.arange(len(STATES) - 1) + 0.5, minor=True)
    axes.grid(which="minor", color="white", linewidth=1)
    axes.tick_params(which="both", length=0)
    axes.spines[:].set_visible(False)
    axes.set_title(title, fontsize=10)
