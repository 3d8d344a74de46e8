"""The pictures of the scoreboard: by question as in bsuite, and world by world."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from studies.suite.measures import RECOMMENDED
from studies.suite.worlds import QUESTIONS, WORLDS

SHOWN = 1.0
"""The ε of the comparison by question."""
_COLOURS = {RECOMMENDED: "#1f7a6d", "LDP-OBI": "#9c4a1a", "ε-greedy": "#8a8a8a"}
_SHADES = {0.5: "#a8d5cc", 1.0: "#5fb0a1", 2.0: "#1f7a6d", 4.0: "#0b3d36"}


def shares_in_common(scores: Sequence[dict[str, Any]]) -> dict[str, dict[str, float]]:
    """Return the share of the gap that users close, by learner and question.

    Over the worlds in which all have run who are drawn and play any world of the question: in
    others they would not compare.
    """
    found: dict[str, dict[str, float]] = {name: {} for name in _COLOURS}
    for question in QUESTIONS:
        asking = {world.name for world in WORLDS if question in world.questions}
        mine = {
            name: {
                one["world"]: max(one["users_share"], 0.0)
                for one in scores
                if one["epsilon"] == SHOWN
                and one["world"] in asking
                and (one["recommended"] if name == RECOMMENDED else one["learner"] == name)
            }
            for name in _COLOURS
        }
        playing = {name: shares for name, shares in mine.items() if shares}
        common = set.intersection(*map(set, playing.values())) if playing else set()
        for name, shares in playing.items():
            if common:
                found[name][question] = float(np.mean([shares[world] for world in common]))
    return found


def radar(scores: Sequence[dict[str, Any]]) -> Figure:
    """Draw the share of the gap that users close by question; what has not run is left open."""
    found = shares_in_common(scores)
    angles = np.linspace(0, 2 * np.pi, len(QUESTIONS), endpoint=False)
    picture = Figure(figsize=(5.6, 4.6))
    axes: Any = picture.add_subplot(projection="polar")
    for name, colour in _COLOURS.items():
        shares = [found[name].get(one, np.nan) for one in QUESTIONS]
        closed = [*shares, shares[0]]
        axes.plot([*angles, angles[0]], closed, "o-", color=colour, label=name, markersize=5)
    axes.set_xticks(angles, QUESTIONS)
    axes.tick_params(axis="x", pad=12)
    axes.set_ylim(0, 1)
    axes.set_yticks([0.25, 0.5, 0.75, 1.0])
    axes.grid(True, axis="both")
    axes.legend(loc="upper left", bbox_to_anchor=(1.05, 1.1))
    return picture


def shares_by_world(scores: Sequence[dict[str, Any]]) -> Figure:
    """Draw the share of the gap that users close in each world; below 0 is drawn at 0."""
    picture = Figure(figsize=(7.2, 5.6), layout="constrained")
    axes = picture.subplots()
    lines = [
        (f"recommended, ε = {epsilon:g}", "o", shade, {"recommended": True, "epsilon": epsilon})
        for epsilon, shade in _SHADES.items()
    ] + [
        (f"{name}, ε = {SHOWN:g}", mark, _COLOURS[name], {"learner": name, "epsilon": SHOWN})
        for name, mark in (("LDP-OBI", "x"), ("ε-greedy", "|"))
    ]
    places = {world.name: -place for place, world in enumerate(WORLDS)}
    for label, mark, colour, fields in lines:
        mine = [one for one in scores if all(one[key] == fields[key] for key in fields)]
        axes.plot(
            [max(one["users_share"], 0.0) for one in mine],
            [places[one["world"]] for one in mine],
            mark,
            color=colour,
            label=label,
            markersize=8,
        )
    axes.set_yticks(list(places.values()), [world.title for world in WORLDS])
    axes.set_xlim(-0.02, 1.02)
    axes.set_xlabel("share of the gap that users close, all of them on average")
    axes.grid(True, axis="x")
    picture.legend(loc="outside lower center", ncols=3)
    return picture
