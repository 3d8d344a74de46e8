"""The gallery of problems: a picture of each world."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import gymnasium
import numpy as np
from diagrams import GREY, INK, SERVICE, USER
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import FancyArrowPatch, Rectangle

from ldprl import TabularMDP
from ldprl.worlds import mdp_from, optimum


def world(name: str) -> TabularMDP:
    """Return a problem of the gallery."""
    if name == "bandit":
        means = np.array([[0.9, 0.7]])
        return TabularMDP(np.ones((1, 2, 1)), means, 1, reward_kind="bernoulli")
    return mdp_from(name)


def bandit() -> Figure:
    """Draw what the two actions pay."""
    figure = Figure(figsize=(4.2, 2.4), layout="constrained")
    axes = figure.subplots()
    axes.bar(["action 0", "action 1"], world("bandit").rewards[0], color=[USER, GREY], width=0.5)
    axes.set(ylim=(0, 1), ylabel="chance of a reward")
    return figure


def river() -> Figure:
    """Draw RiverSwim: where swimming leads, and what is paid."""
    mdp = world("riverswim:6,20")
    states = mdp.shape.states
    figure = Figure(figsize=(7.5, 2.4), layout="constrained")
    axes = figure.subplots()
    axes.set(xlim=(-0.6, states - 0.4), ylim=(-1, 1.15))
    axes.axis("off")
    for state in range(states):
        axes.text(
            state, 0, str(state), ha="center", va="center", color="white", zorder=3,
            bbox={"boxstyle": "circle", "fc": SERVICE, "ec": "none"},
        )  # fmt: skip
        ahead, back = mdp.transitions[state, 1, min(state + 1, states - 1)], state - 1
        if state + 1 < states:
            _bow(axes, state, state + 1, USER, -0.5)
            axes.text(state + 0.5, 0.5, f"{ahead:.2g}", ha="center", color=INK, fontsize=9)
        if back >= 0:
            _bow(axes, state, back, GREY, -0.4)
    axes.text(0, -0.75, f"floating pays {mdp.rewards[0, 0]:g}", ha="center", color=INK, fontsize=9)
    paid = f"swimming pays {mdp.rewards[-1, 1]:g}"
    axes.text(states - 1, -0.75, paid, ha="center", color=INK, fontsize=9)
    axes.text(
        (states - 1) / 2, 0.95, "swimming gets ahead with this chance", ha="center", color=INK,
        fontsize=9,
    )  # fmt: skip
    return figure


def _bow(axes: Axes, start: float, end: float, colour: str, bend: float) -> None:
    axes.add_patch(
        FancyArrowPatch(
            (start, 0), (end, 0), connectionstyle=f"arc3,rad={bend}", arrowstyle="-|>",
            mutation_scale=12, color=colour, lw=1.6, shrinkA=13, shrinkB=13,
        )
    )  # fmt: skip


def moves(name: str) -> Figure:
    """Draw where each action leads, a panel for each action, and mark rewards above a half."""
    mdp = world(name)
    actions = mdp.shape.actions
    figure = Figure(figsize=(2.5 * actions + 0.4, 2.8), layout="constrained")
    for action, axes in enumerate(np.atleast_1d(figure.subplots(1, actions))):
        axes.imshow(mdp.transitions[:, action], vmin=0, vmax=1, cmap="YlGnBu")
        paid = np.flatnonzero(mdp.rewards[:, action] > 0.5)
        axes.plot(
            [-0.5 - 0.02 * mdp.shape.states] * len(paid), paid, ">", color=USER, clip_on=False
        )
        axes.set(title=f"action {action}", xlabel="to state", xticks=[], yticks=[])
        if not action:
            axes.set_ylabel("from state")
    return figure


def grid() -> Figure:
    """Draw the value of every place at the first step, and the best policy's first action."""
    rows = columns = 5
    best = optimum(world("grid:5,5,10"))
    arrows = ((0, -1), (1, 0), (0, 1), (-1, 0))  # up, right, down, left, as (across, down)
    figure = Figure(figsize=(3.4, 3.1), layout="constrained")
    axes = figure.subplots()
    values = best.values[0].reshape(rows, columns)
    shown = axes.imshow(values, cmap="YlGnBu", vmin=0)
    for place in range(rows * columns - 1):
        across, down = arrows[int(best.policy[0, place])]
        y, x = divmod(place, columns)
        axes.annotate(
            "", (x + 0.3 * across, y + 0.3 * down), (x - 0.3 * across, y - 0.3 * down),
            arrowprops={"arrowstyle": "-|>", "color": USER, "lw": 1.4},
        )  # fmt: skip
    axes.text(columns - 1, rows - 1, "goal", ha="center", va="center", color="white")
    axes.set(xticks=[], yticks=[])
    figure.colorbar(shown, label="value from here", shrink=0.8)
    return figure


def lake() -> Figure:
    """Draw the map of FrozenLake."""
    squares = gymnasium.make("FrozenLake-v1").unwrapped.desc.astype(str)  # type: ignore[attr-defined]
    colours = {"S": "#e4f2f0", "F": "#f4f8f8", "H": INK, "G": USER}
    words = {"S": "start", "F": "", "H": "hole", "G": "goal"}
    figure = Figure(figsize=(2.8, 2.8), layout="constrained")
    axes = figure.subplots()
    for (y, x), kind in np.ndenumerate(squares):
        axes.add_patch(Rectangle((x, -y), 1, 1, fc=colours[kind], ec=GREY))
        ink = "white" if kind == "H" else INK
        axes.text(x + 0.5, 0.5 - y, words[kind], ha="center", va="center", color=ink, fontsize=9)
    axes.set(xlim=(0, 4), ylim=(-3, 1), aspect="equal")
    axes.axis("off")
    return figure


PICTURES: dict[str, Callable[[], Figure]] = {
    "problem-bandit": bandit,
    "problem-random-2": partial(moves, "random:2,2,2,0"),
    "problem-riverswim": river,
    "problem-random-10": partial(moves, "random:10,3,5,0"),
    "problem-grid": grid,
    "problem-frozenlake": lake,
}
