"""Draws the figure of two trajectories: what each reports, in two colours."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from matplotlib.figure import Figure as Picture

from ldprl.figures.common.style import CONSTANTS, headline, panels
from ldprl.figures.two_trajectories.sweep import ACTION, SHOWN, STATE

_COLOURS = {"X": "#0072b2", "X′": "#d55e00"}


def plot(table: pa.Table) -> dict[str, Picture]:
    """Return a panel for each kind of constants."""
    picture, ((*axes,),) = panels(1, len(CONSTANTS), width=5.4, height=3.6, sharey=False)
    shown = table.filter(pc.equal(table["epsilon"], SHOWN))
    for panel, (constants, title) in zip(axes, CONSTANTS.items(), strict=True):
        here = shown.filter(pc.equal(shown["constants"], constants))
        whole = constants == "sound"  # sound reports are whole numbers
        bins = np.arange(-4.5, 7, 1.0) if whole else np.arange(-4, 6.01, 0.2)
        for name, colour in _COLOURS.items():
            chosen = here.filter(pc.equal(here["trajectory"], name))
            values, truth = chosen["reported"].to_numpy(), chosen["truth"][0].as_py()
            heights, _ = np.histogram(values, bins, density=True)
            panel.stairs(heights, bins, fill=True, color=colour, alpha=0.35)
            panel.stairs(heights, bins, color=colour, linewidth=1.4)
            panel.annotate(
                f"{name}: truly {truth:g}", (truth, heights.max()), (0, 5),
                textcoords="offset points", ha="left" if name == "X" else "right", color=colour,
            )  # fmt: skip
        panel.set_title(title)
        panel.set_xlim(-4, 6)
        panel.set_yticks([])
        panel.spines["left"].set_visible(False)
        panel.set_xlabel("reported cumulative reward")
    cell = f"state {STATE}, action {ACTION}"
    headline(picture, f"Two users' reports on {cell}, ε = {SHOWN:g}")
    return {"": picture}
