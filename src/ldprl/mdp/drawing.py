"""Pictures of the world."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ldprl.mdp.hard_tree import HardTree

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Point = tuple[float, float]
_INK, _FAINT, _QUIET, _BEST = "#1f2933", "#6b7785", "#b8c1cc", "#d9480f"
_PLUS, _MINUS, _NODE = "#cfe8d5", "#e4e7eb", "#ffffff"
_PATCH = {"facecolor": "white", "edgecolor": "none", "pad": 1.0}
_LEVEL = 1.5
_ENDS = 2.2


def draw_tree(tree: HardTree, path: str | Path) -> None:
    """Draw a hard tree into ``path``, in the format its ending names.

    Time runs downwards, a level a step. An edge is one child with all the actions that lead there;
    the way to the better pair is marked.
    """
    from matplotlib.figure import Figure

    places = _places(tree)
    width = max(7.0, 0.95 * tree.leaves + 1.5)
    height = _LEVEL * (tree.depth - 1) + _ENDS + 1.6
    figure = Figure(figsize=(width, height), layout="constrained")
    axes = figure.subplots()
    _draw_ends(axes, tree, places)
    _draw_branches(axes, tree, places)
    _draw_nodes(axes, tree, places)
    _draw_steps(axes, tree, places)
    axes.set_title(
        f"S = {tree.mdp.shape.states}, A = {tree.mdp.shape.actions}, L = {tree.leaves}, "
        f"d = {tree.depth}, Δ = {tree.gap:.3g}",
        color=_INK,
    )
    axes.set_aspect("equal")
    axes.axis("off")
    figure.savefig(path, dpi=160)


def _places(tree: HardTree) -> dict[int, Point]:
    """Put leaves side by side, parents above the middle of their children, + and − below."""
    places: dict[int, Point] = {}
    first = tree.plus
    for level in reversed(range(tree.depth)):
        below, first = first, first - tree.levels[level]
        for node in range(first, below):
            if level == tree.depth - 1:
                x = float(node - first)
            else:
                x = float(np.mean([places[child][0] for child in _children(tree, node)]))
            places[node] = (x, -_LEVEL * level)
    bottom = -_LEVEL * (tree.depth - 1) - _ENDS
    middle = (tree.leaves - 1) / 2
    apart = max(1.0, tree.leaves / 5)
    places[tree.plus] = (middle - apart, bottom)
    places[tree.minus] = (middle + apart, bottom)
    return places


def _children(tree: HardTree, node: int) -> dict[int, list[int]]:
    """Return the children of ``node``, each with the actions that lead there."""
    children: dict[int, list[int]] = {}
    for action, row in enumerate(tree.mdp.transitions[node]):
        children.setdefault(int(row.argmax()), []).append(action)
    return children


def _draw_branches(axes: Axes, tree: HardTree, places: dict[int, Point]) -> None:
    first_leaf = tree.plus - tree.leaves
    parents = {child: node for node in range(first_leaf) for child in _children(tree, node)}
    best = {tree.best_leaf}
    while min(best) in parents:
        best.add(parents[min(best)])
    for node in range(first_leaf):
        for child, actions in _children(tree, node).items():
            on_the_way = child in best
            colour, line = (_BEST, 2.4) if on_the_way else (_INK, 1.1)
            _edge(axes, places[node], places[child], colour, line)
            label = ",".join(str(action) for action in actions)
            _label(axes, places[node], places[child], label, colour)


def _draw_ends(axes: Axes, tree: HardTree, places: dict[int, Point]) -> None:
    for leaf in range(tree.plus - tree.leaves, tree.plus):
        for end in (tree.plus, tree.minus):
            _edge(axes, places[leaf], places[end], _QUIET, 0.9)
    leaf = tree.best_leaf
    for end, sign in ((tree.plus, "+"), (tree.minus, "−")):
        _edge(axes, places[leaf], places[end], _BEST, 2.4)
        text = f"{tree.action}: ½{sign}Δ"
        _label(axes, places[leaf], places[end], text, _BEST)
    caption = (
        "Edges carry their actions; grey ones, all that are left, lead to + and − with ½ each."
    )
    middle, bottom = (tree.leaves - 1) / 2, places[tree.plus][1]
    axes.text(middle, bottom - 1.0, caption, color=_FAINT, fontsize=9, ha="center", va="top")


def _draw_nodes(axes: Axes, tree: HardTree, places: dict[int, Point]) -> None:
    first_leaf = tree.plus - tree.leaves
    for node, (x, y) in places.items():
        if node >= tree.plus:
            sign, colour, pays = ("+", _PLUS, 1) if node == tree.plus else ("−", _MINUS, 0)
            _disc(axes, (x, y), sign, face=colour, edge=_INK, radius=0.38, size=18)
            text = f"reward {pays} a step"
            axes.text(x, y - 0.5, text, color=_INK, fontsize=9, ha="center", va="top")
        else:
            colour = _BEST if node == tree.best_leaf else _INK
            name = f"$x_{{{node - first_leaf + 1}}}$" if node >= first_leaf else str(node)
            _disc(axes, (x, y), name, face=_NODE, edge=colour, radius=0.28, size=10)


def _draw_steps(axes: Axes, tree: HardTree, places: dict[int, Point]) -> None:
    texts = {-_LEVEL * level: f"step {level + 1}" for level in range(tree.depth)}
    texts[places[tree.plus][1]] = f"steps {tree.depth + 1}–{tree.mdp.horizon}"
    left = min(x for x, _ in places.values()) - 0.7
    for y, text in texts.items():
        axes.text(left, y, text, color=_FAINT, fontsize=9, ha="right", va="center")


def _edge(axes: Axes, start: Point, end: Point, colour: str, line: float) -> None:
    axes.plot((start[0], end[0]), (start[1], end[1]), color=colour, linewidth=line, zorder=1)


def _label(axes: Axes, start: Point, end: Point, text: str, colour: str) -> None:
    x, y = (start[0] + end[0]) / 2, (start[1] + end[1]) / 2
    axes.text(x, y, text, color=colour, fontsize=9, ha="center", va="center", bbox=_PATCH)


def _disc(
    axes: Axes, centre: Point, text: str, *, face: str, edge: str, radius: float, size: int
) -> None:
    from matplotlib.patches import Circle

    line = 2.4 if edge == _BEST else 1.2
    axes.add_patch(Circle(centre, radius, facecolor=face, edgecolor=edge, linewidth=line, zorder=2))
    axes.text(*centre, text, color=edge, fontsize=size, ha="center", va="center", zorder=3)
